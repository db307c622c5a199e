#pragma once

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/http2_session.h"

namespace wardmote::testing {

/// nghttp2's server, without I/O: keeps all rules of HTTP/2 and the windows of its client.
class Http2Server {
 public:
  struct Request {
    std::int32_t stream = 0;
    codec::HeaderFields headers;
    std::string data;
    [[nodiscard]] std::string path() const {
      const auto found = std::ranges::find(headers, ":path", &codec::HeaderField::name);
      return found == headers.end() ? "" : found->value;
    }
  };
  struct Answer {
    std::string data;
    codec::HeaderFields trailers{{"grpc-status", "0"}};
    std::string type = "application/grpc";
  };
  /// Of a whole request; nothing: no answer yet (see answer()).
  using Handler = std::function<std::optional<Answer>(const Request&)>;

  explicit Http2Server(Handler handler, std::vector<nghttp2_settings_entry> settings = {})
      : handler_(std::move(handler)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    check(nghttp2_session_callbacks_new(&callbacks) == 0, "memory");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, take_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, take_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, take_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    check(nghttp2_session_server_new(&session_, callbacks, this) == 0, "memory");
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  }
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;
  ~Http2Server() { nghttp2_session_del(session_); }

  void receive(std::string_view bytes) {
    const ssize_t taken = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    check(taken >= 0, "a client that keeps the rules");
  }
  std::string take_output() {
    std::string output;
    const std::uint8_t* bytes = nullptr;
    while (const ssize_t size = nghttp2_session_mem_send(session_, &bytes))
      output.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return output;
  }

  void answer(std::int32_t stream, Answer answer) {
    const std::string status = "200";
    const std::string type = answer.type;
    const nghttp2_nv headers[] = {field(":status", status), field("content-type", type)};
    answers_[stream] = {std::move(answer), 0, false};
    nghttp2_data_provider provider{{}, give_data};
    nghttp2_submit_response(session_, stream, headers, 2, &provider);
  }
  /// One more piece of an answer that does not end.
  void say(std::int32_t stream, std::string_view data) {
    if (const auto begun = answers_.find(stream); begun != answers_.end()) {
      begun->second.answer.data += data;
      nghttp2_session_resume_data(session_, stream);
      return;
    }
    answer(stream, {std::string(data), {}});
    answers_[stream].goes_on = true;
  }
  nghttp2_session* session() noexcept { return session_; }

  /// Called with each piece of a request that does not end.
  std::function<void(std::int32_t stream, std::string_view data)> on_piece =
      [](std::int32_t, std::string_view) {};

  std::vector<Request> requests;                               ///< that came whole
  std::vector<std::pair<std::int32_t, std::uint32_t>> closes;  ///< streams and their error codes

 private:
  struct Sending {
    Answer answer;
    std::size_t sent = 0;
    bool goes_on = false;
  };

  static Http2Server& of(void* self) { return *static_cast<Http2Server*>(self); }
  static nghttp2_nv field(std::string_view name, const std::string& value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static int take_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t, void* self) {
    of(self).coming_[frame->hd.stream_id].headers.push_back(
        {std::string(reinterpret_cast<const char*>(name), name_size),
         std::string(reinterpret_cast<const char*>(value), value_size)});
    return 0;
  }
  static int take_data(nghttp2_session*, std::uint8_t, std::int32_t stream,
                       const std::uint8_t* data, std::size_t size, void* self) {
    const std::string_view piece(reinterpret_cast<const char*>(data), size);
    of(self).coming_[stream].data.append(piece);
    of(self).on_piece(stream, piece);
    return 0;
  }
  static int take_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    const bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Http2Server& server = of(self);
    Request request = std::move(server.coming_[frame->hd.stream_id]);
    request.stream = frame->hd.stream_id;
    server.requests.push_back(request);
    if (auto answer = server.handler_(request))
      server.answer(frame->hd.stream_id, *std::move(answer));
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* self) {
    of(self).closes.emplace_back(stream, code);
    return 0;
  }
  static ssize_t give_data(nghttp2_session* session, std::int32_t stream, std::uint8_t* into,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                           void* self) {
    Sending& sending = of(self).answers_[stream];
    const std::string_view rest = std::string_view(sending.answer.data).substr(sending.sent);
    const std::size_t given = std::min(size, rest.size());
    std::memcpy(into, rest.data(), given);
    sending.sent += given;
    if (sending.goes_on && given == 0) return NGHTTP2_ERR_DEFERRED;
    if (given < rest.size() || sending.goes_on) return static_cast<ssize_t>(given);
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    std::vector<nghttp2_nv> trailers;
    for (const codec::HeaderField& one : sending.answer.trailers)
      trailers.push_back(field(one.name, one.value));
    nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
    return static_cast<ssize_t>(given);
  }

  Handler handler_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Request> coming_;
  std::map<std::int32_t, Sending> answers_;
};

}  // namespace wardmote::testing
