#include "codec/http2_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

/// RFC 9113 6.5.2: what a field costs in addition to its own bytes.
constexpr std::size_t kFieldCost = 32;
/// How many bytes are processed at a time, so that the answers to them (acknowledgements) stay as
/// small.
constexpr std::size_t kSlice = 4096;
/// How much of bytes that are not HTTP/2 is quoted.
constexpr std::size_t kQuoted = 32;
/// How many idle bytes one byte of data allows: a frame of few bytes is mostly frame header.
constexpr std::size_t kWorthOfData = 16;

struct Freed {
  void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  void operator()(nghttp2_session_callbacks* callbacks) const noexcept {
    nghttp2_session_callbacks_del(callbacks);
  }
  void operator()(nghttp2_option* option) const noexcept { nghttp2_option_del(option); }
};

std::string error_name(std::uint32_t code) {
  const std::string_view name = nghttp2_http2_strerror(code);
  return name == "unknown" ? fmt::format("error {}", code) : std::string(name);
}

std::string_view text(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// nghttp2 only reads through these pointers.
std::uint8_t* octets(const std::string& bytes) noexcept {
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
}

/// RFC 9113 8.1: an interim answer, which the final one follows.
bool is_interim(const HeaderFields& headers) noexcept {
  const auto status = std::ranges::find(headers, ":status", &HeaderField::name);
  return status != headers.end() && status->value.starts_with('1');
}

struct Call {
  Http2Call seen;
  std::string unsent;
  bool last = false;       // of the request: no data follows `unsent`
  bool sent = false;       // the whole request was sent
  bool forgotten = false;  // closed by nghttp2: both sides have ended
};

}  // namespace

struct Http2Session::Impl {
  explicit Impl(const Http2Limits& given);

  // The callbacks of nghttp2; none may throw through it.
  static int begin_headers(nghttp2_session*, const nghttp2_frame*, void* self) noexcept;
  static int take_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t flags, void* self) noexcept;
  static int take_data(nghttp2_session*, std::uint8_t flags, std::int32_t stream,
                       const std::uint8_t* data, std::size_t size, void* self) noexcept;
  static int take_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) noexcept;
  static int closed(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* self) noexcept;
  static int sent(nghttp2_session*, const nghttp2_frame* frame, void* self) noexcept;
  static ssize_t give_data(nghttp2_session*, std::int32_t stream, std::uint8_t* into,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                           void* self) noexcept;

  static Impl& of(void* self) noexcept { return *static_cast<Impl*>(self); }

  Call* find(std::int32_t stream) noexcept {
    const auto found = calls.find(stream);
    return found == calls.end() ? nullptr : &found->second;
  }
  void take_block(const nghttp2_frame& frame);
  void end(std::int32_t stream, Call& call, std::optional<Error> failure);
  [[nodiscard]] Error gone(std::uint32_t code) const;
  /// Makes nghttp2 write its output.
  void pump();

  Http2Limits limits;
  std::unique_ptr<nghttp2_session, Freed> session;
  std::map<std::int32_t, Call> calls;
  HeaderFields block;  // of the headers that are arriving, of any call
  std::size_t block_bytes = 0;
  std::string begin;  // first bytes received, until they have shown to be HTTP/2
  bool is_http2 = false;
  std::size_t idle = 0;
  std::string output;
  std::optional<std::uint32_t> goes_away;  // and why
  std::optional<Error> failure;
};

Http2Session::Impl::Impl(const Http2Limits& given) : limits(given) {
  nghttp2_session_callbacks* raw_callbacks = nullptr;
  nghttp2_option* raw_option = nullptr;
  nghttp2_session* raw_session = nullptr;
  // These fail only without memory.
  if (nghttp2_session_callbacks_new(&raw_callbacks) != 0) throw std::bad_alloc();
  const std::unique_ptr<nghttp2_session_callbacks, Freed> callbacks(raw_callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(raw_callbacks, begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(raw_callbacks, take_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(raw_callbacks, take_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(raw_callbacks, take_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(raw_callbacks, closed);
  nghttp2_session_callbacks_set_on_frame_send_callback(raw_callbacks, sent);
  if (nghttp2_option_new(&raw_option) != 0) throw std::bad_alloc();
  const std::unique_ptr<nghttp2_option, Freed> option(raw_option);
  // The window is given back when the caller takes the data, not when the data arrives.
  nghttp2_option_set_no_auto_window_update(raw_option, 1);
  // nghttp2 counts one CONTINUATION for each piece in which a header arrives; the limit here is
  // `idle_bytes`.
  nghttp2_option_set_max_continuations(raw_option, std::numeric_limits<std::size_t>::max());
  if (nghttp2_session_client_new2(&raw_session, raw_callbacks, this, raw_option) != 0)
    throw std::bad_alloc();
  session.reset(raw_session);

  const auto window = static_cast<std::uint32_t>(limits.window);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes)}};
  const int set =
      nghttp2_submit_settings(raw_session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  check(set == 0, "limits that HTTP/2 knows");
}

int Http2Session::Impl::begin_headers(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                                      void* self) noexcept {
  of(self).block.clear();
  of(self).block_bytes = 0;
  return 0;
}

int Http2Session::Impl::take_header(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                                    const std::uint8_t* name, std::size_t name_size,
                                    const std::uint8_t* value, std::size_t value_size,
                                    std::uint8_t /*flags*/, void* self) noexcept {
  Impl& impl = of(self);
  impl.block_bytes += name_size + value_size + kFieldCost;
  if (impl.block_bytes > impl.limits.header_bytes) {
    impl.failure =
        Error{Errc::kLimit, fmt::format("headers over {} bytes", impl.limits.header_bytes)};
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  impl.block.emplace_back(std::string(text(name, name_size)), std::string(text(value, value_size)));
  return 0;
}

int Http2Session::Impl::take_data(nghttp2_session* session, std::uint8_t /*flags*/,
                                  std::int32_t stream, const std::uint8_t* data, std::size_t size,
                                  void* self) noexcept {
  Impl& impl = of(self);
  // A call whose data is not taken must not block the other calls. Fails only without memory.
  nghttp2_session_consume_connection(session, size);
  Call* const call = impl.find(stream);
  if (call == nullptr || call->seen.ended) return 0;
  if (call->seen.data.size() + size > impl.limits.window) {
    // nghttp2 resets the call too, but accepts 65,535 bytes until the server has acknowledged a
    // smaller window.
    impl.end(stream, *call, Error{Errc::kProtocol, "more data than its window takes"});
    return 0;
  }
  call->seen.data += text(data, size);
  impl.idle -= std::min(impl.idle, size * kWorthOfData);
  return 0;
}

int Http2Session::Impl::take_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                                   void* self) noexcept {
  Impl& impl = of(self);
  impl.is_http2 = true;
  const std::int32_t stream = frame->hd.stream_id;
  if (frame->hd.type == NGHTTP2_GOAWAY) impl.goes_away = frame->goaway.error_code;
  Call* const call = impl.find(stream);
  if (call == nullptr) return 0;
  if (frame->hd.type == NGHTTP2_RST_STREAM) {
    impl.end(stream, *call,
             Error{Errc::kRejected, fmt::format("the call was reset: {}",
                                                error_name(frame->rst_stream.error_code))});
    return 0;
  }
  const bool has_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  if (!has_end || call->seen.ended) return 0;
  if (frame->hd.type == NGHTTP2_HEADERS) impl.take_block(*frame);
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) impl.end(stream, *call, std::nullopt);
  return 0;
}

void Http2Session::Impl::take_block(const nghttp2_frame& frame) {
  if (is_interim(block)) return;
  Http2Call& seen = find(frame.hd.stream_id)->seen;
  (seen.headers.empty() ? seen.headers : seen.trailers) = std::move(block);
}

void Http2Session::Impl::end(std::int32_t stream, Call& call, std::optional<Error> reason) {
  if (call.seen.ended) return;
  call.seen.ended = true;
  call.seen.failure = std::move(reason);
  call.unsent.clear();
  // The server has answered before it received everything: the rest would wait for a window that
  // may never open.
  if (!call.sent && !call.seen.failure)
    nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

Error Http2Session::Impl::gone(std::uint32_t code) const {
  // The server did not process this call, so it may be repeated elsewhere if there was no error.
  if (goes_away && code == NGHTTP2_REFUSED_STREAM) {
    return {*goes_away == NGHTTP2_NO_ERROR ? Errc::kClosed : Errc::kRejected,
            fmt::format("it goes away: {}", error_name(*goes_away))};
  }
  return {Errc::kProtocol,
          fmt::format("an answer against the rules of HTTP/2: {}", error_name(code))};
}

int Http2Session::Impl::closed(nghttp2_session* /*session*/, std::int32_t stream,
                               std::uint32_t code, void* self) noexcept {
  Impl& impl = of(self);
  Call* const call = impl.find(stream);
  if (call == nullptr) return 0;
  call->forgotten = true;
  impl.end(stream, *call, impl.gone(code));
  return 0;
}

/// We never send GOAWAY; nghttp2 does when the server breaks the rules.
int Http2Session::Impl::sent(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                             void* self) noexcept {
  Impl& impl = of(self);
  if (frame->hd.type != NGHTTP2_GOAWAY || impl.failure) return 0;
  const nghttp2_goaway& away = frame->goaway;
  const bool too_much = away.error_code == NGHTTP2_ENHANCE_YOUR_CALM;
  impl.failure =
      impl.is_http2
          ? Error{too_much ? Errc::kLimit : Errc::kProtocol,
                  fmt::format("HTTP/2: {} ({})",
                              escape_control(text(away.opaque_data, away.opaque_data_len)),
                              error_name(away.error_code))}
          : Error{Errc::kProtocol,
                  fmt::format("this is not HTTP/2: '{}'", escape_control(impl.begin, kQuoted))};
  return 0;
}

ssize_t Http2Session::Impl::give_data(nghttp2_session* /*session*/, std::int32_t stream,
                                      std::uint8_t* into, std::size_t size, std::uint32_t* flags,
                                      nghttp2_data_source* /*source*/, void* self) noexcept {
  Call* const call = of(self).find(stream);
  // Closed by us: the reset is on its way.
  if (call == nullptr) return NGHTTP2_ERR_DEFERRED;
  const std::size_t given = std::min(size, call->unsent.size());
  if (given == 0 && !call->last) return NGHTTP2_ERR_DEFERRED;
  std::ranges::copy(std::string_view(call->unsent).substr(0, given), into);
  call->unsent.erase(0, given);
  call->sent = call->last && call->unsent.empty();
  if (call->sent) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(given);
}

void Http2Session::Impl::pump() {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session.get(), &bytes);
    if (size == 0) return;
    if (size < 0) {
      if (!failure) failure = Error{Errc::kInternal, nghttp2_strerror(static_cast<int>(size))};
      return;
    }
    output += text(bytes, static_cast<std::size_t>(size));
  }
}

Http2Session::Http2Session(const Http2Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}
Http2Session::~Http2Session() = default;

Result<Http2Session::CallId> Http2Session::open(const HeaderFields& headers) {
  if (impl_->failure) return std::unexpected(*impl_->failure);
  if (!takes_calls()) return fail(Errc::kClosed, "the connection takes no more calls");
  if (impl_->calls.size() >= impl_->limits.calls)
    return fail(Errc::kLimit, "more than {} calls at once", impl_->limits.calls);
  std::vector<nghttp2_nv> fields;
  for (const HeaderField& field : headers) {
    fields.push_back({octets(field.name), octets(field.value), field.name.size(),
                      field.value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  const nghttp2_data_provider provider{{}, Impl::give_data};
  const std::int32_t stream = nghttp2_submit_request(impl_->session.get(), nullptr, fields.data(),
                                                     fields.size(), &provider, nullptr);
  if (stream < 0) return fail(Errc::kInternal, "{}", nghttp2_strerror(stream));
  impl_->calls.emplace(stream, Call());
  impl_->idle = 0;
  return stream;
}

Result<void> Http2Session::send(CallId call, std::string_view data, bool last) {
  Call* const open = impl_->find(call);
  check(open != nullptr && !open->last, "a call that is open");
  if (open->seen.ended) return {};
  if (open->unsent.size() + data.size() > impl_->limits.unsent)
    return fail(Errc::kLimit, "over {} bytes that the server does not take", impl_->limits.unsent);
  open->unsent += data;
  open->last = last;
  impl_->idle = 0;
  // Fails while the headers wait to be sent; the data follows them then.
  nghttp2_session_resume_data(impl_->session.get(), call);
  return {};
}

const Http2Call& Http2Session::call(CallId call) const {
  const Call* const open = impl_->find(call);
  check(open != nullptr, "a call that is open");
  return open->seen;
}

std::string Http2Session::take_data(CallId call) {
  Call* const open = impl_->find(call);
  check(open != nullptr, "a call that is open");
  std::string data = std::exchange(open->seen.data, {});
  if (!impl_->failure) nghttp2_session_consume_stream(impl_->session.get(), call, data.size());
  return data;
}

void Http2Session::close(CallId call) {
  const Call* const open = impl_->find(call);
  if (open == nullptr) return;
  if (!open->forgotten && !impl_->failure)
    nghttp2_submit_rst_stream(impl_->session.get(), NGHTTP2_FLAG_NONE, call, NGHTTP2_CANCEL);
  impl_->calls.erase(call);
}

Result<void> Http2Session::receive(std::string_view bytes) {
  Impl& impl = *impl_;
  for (; !impl.failure && !bytes.empty(); bytes.remove_prefix(std::min(kSlice, bytes.size()))) {
    const std::string_view slice = bytes.substr(0, kSlice);
    if (!impl.is_http2) impl.begin += slice.substr(0, kQuoted - impl.begin.size());
    impl.idle += slice.size();
    const ssize_t taken = nghttp2_session_mem_recv(
        impl.session.get(), reinterpret_cast<const std::uint8_t*>(slice.data()), slice.size());
    if (taken < 0 && !impl.failure) {
      impl.failure = Error{Errc::kProtocol,
                           fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(taken)))};
    }
    if (!impl.failure) impl.pump();
    if (!impl.failure && impl.idle > impl.limits.idle_bytes) {
      impl.failure = Error{
          Errc::kLimit, fmt::format("{} bytes that bring no call forward", impl.limits.idle_bytes)};
    }
  }
  if (impl.failure) return std::unexpected(*impl.failure);
  return {};
}

std::string Http2Session::take_output() {
  if (!impl_->failure) impl_->pump();
  return std::exchange(impl_->output, {});
}

bool Http2Session::takes_calls() const noexcept {
  return !impl_->failure && !impl_->goes_away &&
         nghttp2_session_check_request_allowed(impl_->session.get()) != 0;
}

}  // namespace wardmote::codec
