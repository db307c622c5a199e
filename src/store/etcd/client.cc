#include "store/etcd/client.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/etcd/channel.h"
#include "store/etcd/status.h"

namespace wardmote::store::etcd {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kAuthenticate = "/etcdserverpb.Auth/Authenticate";
/// A member that hangs must not use up the time of those behind it.
constexpr Duration kShortestAttempt = 1s;
constexpr std::string_view kAuthIsOff = "authentication is not enabled";

/// A member that is cut off from the others answers at once instead of never.
codec::HeaderFields headers_with(const std::string& token) {
  codec::HeaderFields headers = {{"hasleader", "true"}};
  if (!token.empty()) headers.push_back({"token", token});
  return headers;
}

std::string authority_of(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.host, v6 ? "]" : "", endpoint.port);
}

/// What the next endpoint may do better.
bool is_of_the_member(const Error& error) noexcept {
  return error.code == Errc::kClosed || error.code == Errc::kTimeout ||
         error.code == Errc::kProtocol;
}

}  // namespace

Client::Client(runtime::Runtime& runtime, ClientOptions options)
    : runtime_(runtime),
      options_(std::move(options)),
      connect_ended_(runtime.executor()),
      tasks_(runtime.executor()) {
  check(!options_.endpoints.empty(), "an etcd cluster without endpoints");
}

const Endpoint* Client::connected_to() const noexcept {
  return channel_ && channel_->takes_calls() ? &options_.endpoints[at_] : nullptr;
}

void Client::fail_over(const Channel& channel) {
  if (channel_.get() != &channel) return;
  std::exchange(channel_, nullptr)->close();
  at_ = (at_ + 1) % options_.endpoints.size();
}

/// In a task of its own: whoever waits for it may be cancelled, and others wait too.
Task<void> Client::connect() {
  struct Done {
    Client* client;
    ~Done() {
      client->connecting_ = false;
      client->connect_ended_.notify();
    }
  } const done{this};
  Endpoint to = options_.endpoints[at_];
  const bool tls = to.kind == Endpoint::Kind::kTls;
  const std::string name = to_string(to);
  std::string authority = authority_of(to);
  auto stream =
      co_await runtime_.connect(std::move(to), runtime_.deadline_in(options_.connect_timeout));
  if (stream) {
    channel_ = Channel::open(runtime_, tasks_, *std::move(stream), tls ? "https" : "http",
                             std::move(authority));
    co_return;
  }
  ++failures_;
  last_failure_ = {stream.error().code, fmt::format("{}: {}", name, stream.error().context)};
  at_ = (at_ + 1) % options_.endpoints.size();
}

Task<Result<std::shared_ptr<Channel>>> Client::connected(Deadline deadline) {
  const std::uint64_t before = failures_;
  while (!channel_ || !channel_->takes_calls()) {
    if (failures_ - before >= options_.endpoints.size()) co_return std::unexpected(last_failure_);
    if (deadline.passed(runtime_.now())) {
      if (failures_ > before) co_return std::unexpected(last_failure_);
      co_return fail(Errc::kTimeout, "connect");
    }
    if (!std::exchange(connecting_, true)) tasks_.spawn("connect to etcd", connect());
    // It ends by a timeout of its own; one that is refused at once has ended here.
    if (connecting_) co_await connect_ended_.wait();
  }
  co_return channel_;
}

Task<Result<std::shared_ptr<Channel>>> Client::authenticated(Deadline deadline) {
  for (std::size_t attempt = 1;; ++attempt) {
    Result<std::shared_ptr<Channel>> channel = co_await connected(deadline);
    if (!channel || options_.user.empty() || token_known_) co_return channel;
    std::string path(kAuthenticate);
    const Result<std::string> password = options_.password ? options_.password() : std::string();
    if (!password) co_return with_context(password, "user {}", options_.user);
    std::string request = codec::etcd::encode_authenticate(options_.user, *password);
    std::shared_ptr<Channel> over = *channel;
    const TimePoint begun = runtime_.now();
    // To ask another member for a token is always safe.
    const Deadline end = one_attempt(deadline, Repeat::kSafe);
    const Answer answer = co_await ask(std::move(over), std::move(path), std::move(request), end);
    if (answer.message) {
      auto token = codec::etcd::decode_authenticate(*answer.message);
      if (!token) co_return std::unexpected(token.error());
      token_ = *std::move(token);
      token_known_ = true;
      co_return channel;
    }
    const Error& error = answer.message.error();
    token_known_ = error.context.contains(kAuthIsOff);
    if (token_known_) co_return channel;
    blame(**channel, error, begun);
    const bool again = is_of_the_member(error) && attempt < options_.endpoints.size();
    if (!again || deadline.passed(runtime_.now()))
      co_return with_context(answer.message, "user {}", options_.user);
  }
}

void Client::blame(const Channel& channel, const Error& error, TimePoint begun) {
  const bool hurried =
      error.code == Errc::kTimeout && runtime_.now() - begun < kShortestAttempt / 2;
  if (is_of_the_member(error) && !hurried) fail_over(channel);
}

Deadline Client::one_attempt(Deadline deadline, Repeat repeat) const {
  if (repeat == Repeat::kNever || options_.endpoints.size() == 1) return deadline;
  const TimePoint now = runtime_.now();
  const Duration share = deadline.left(now) / static_cast<int>(options_.endpoints.size());
  return {std::min(deadline.at, now + std::max(share, kShortestAttempt))};
}

Task<Client::Answer> Client::ask(std::shared_ptr<Channel> channel, std::string path,
                                 std::string request, Deadline deadline) {
  auto call = channel->begin(path, headers_with(token_), deadline.left(runtime_.now()));
  if (!call) co_return Answer{std::unexpected(call.error()), true};
  const Result<void> sent = (*call)->send(request, true);
  if (!sent) co_return Answer{std::unexpected(sent.error()), true};
  Result<std::optional<std::string>> message = co_await (*call)->next(deadline);
  if (!message) co_return Answer{std::unexpected(message.error())};
  if (*message) {
    // A unary call has one message, and then its status.
    const Result<std::optional<std::string>> end = co_await (*call)->next(deadline);
    if (!end) co_return Answer{std::unexpected(end.error())};
    if (*end) co_return Answer{fail(Errc::kProtocol, "two answers")};
  }
  const Result<codec::GrpcStatus> status = (*call)->status();
  // A call that the server, going away, has not begun.
  if (!status)
    co_return Answer{std::unexpected(status.error()), status.error().code == Errc::kClosed};
  if (status->code != 0)
    co_return Answer{std::unexpected(error_of(*status)), false, is_stale_token(*status)};
  if (!*message) co_return Answer{fail(Errc::kProtocol, "no answer")};
  co_return Answer{**std::move(message)};
}

Task<Result<std::string>> Client::call(std::string path, std::string request, Repeat repeat,
                                       Deadline deadline) {
  bool renewed = false;
  for (std::size_t attempt = 1;; ++attempt) {
    const Deadline end = one_attempt(deadline, repeat);
    const Result<std::shared_ptr<Channel>> channel = co_await authenticated(end);
    if (!channel) co_return with_context(channel, "etcd");
    const std::shared_ptr<Channel>& over = *channel;
    const TimePoint begun = runtime_.now();
    Answer answer = co_await ask(over, path, request, end);
    if (answer.message) co_return std::move(answer.message);
    if (answer.stale_token && !options_.user.empty() && !std::exchange(renewed, true)) {
      token_known_ = false;
      token_.clear();
      continue;
    }
    const Error& error = answer.message.error();
    blame(*over, error, begun);
    const bool again = is_of_the_member(error) && (repeat == Repeat::kSafe || answer.unprocessed);
    if (!again || attempt > options_.endpoints.size() || deadline.passed(runtime_.now()))
      co_return with_context(answer.message, "etcd");
  }
}

Task<Result<std::unique_ptr<Channel::Call>>> Client::stream(std::string path, Deadline deadline) {
  const Result<std::shared_ptr<Channel>> channel = co_await authenticated(deadline);
  if (!channel) co_return with_context(channel, "etcd");
  auto call = (*channel)->begin(path, headers_with(token_), std::nullopt);
  if (!call) co_return with_context(call, "etcd");
  co_return *std::move(call);
}

}  // namespace wardmote::store::etcd
