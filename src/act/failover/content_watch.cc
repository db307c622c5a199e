#include "act/failover/content_watch.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/content_digest.h"
#include "codec/json_rpc.h"
#include "judge/failover/digest_ring.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::act::failover {

using codec::RpcMessage;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kTryAgain = 500ms;
/// A large database needs this to send all of it.
constexpr Duration kFirstAnswer = 60s;
/// Silence says nothing: a database that nobody writes sends nothing.
constexpr Duration kSilence = 1h;
constexpr Duration kEcho = 5s;
/// A server that has nothing else to do answers within a millisecond.
constexpr Duration kEchoLook = 1ms;
constexpr std::uint64_t kSchema = 1;
constexpr std::uint64_t kMonitor = 2;
/// The ids of echoes begin after it.
constexpr std::uint64_t kFirstEcho = 100;

}  // namespace

ContentWatch::ContentWatch(runtime::Runtime& runtime, std::string socket, std::string database,
                           std::function<void()> changed)
    : runtime_(runtime),
      socket_(std::move(socket)),
      database_(std::move(database)),
      changed_(std::move(changed)),
      asked_(kFirstEcho),
      written_(runtime.executor()),
      tasks_(runtime.executor()) {}

void ContentWatch::start() {
  tasks_.spawn("content " + database_, run());
}

void ContentWatch::forget() noexcept {
  ring_.forget();
  if (follows_) push();
}

void ContentWatch::push() {
  // A copy that is being replaced loses all its rows first.
  if (tracker_.rows() == 0) ring_.forget();
  ring_.push({tracker_.digest().high, tracker_.digest().low});
}

Task<void> ContentWatch::run() {
  for (;;) {
    const Error why = co_await follow();
    complaint_ = why.describe();
    // What it becomes until the next connection is not seen.
    follows_ = false;
    stream_.reset();
    ring_.forget();
    changed_();
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
  }
}

Task<Error> ContentWatch::follow() {
  runtime::Endpoint at = runtime::Endpoint::unix_socket(socket_);
  auto connected = co_await runtime_.connect(std::move(at), runtime_.deadline_in(kEcho));
  if (!connected) co_return connected.error();
  stream_ = *std::move(connected);
  answered_ = asked_;
  std::string request;
  codec::append_request(request, kSchema, "get_schema", "[" + codec::json_string(database_) + "]");
  const Deadline soon = runtime_.deadline_in(kEcho);
  const Result<void> sent = co_await send(std::move(request), soon);
  if (!sent) co_return sent.error();
  codec::JsonRpcReader reader({.message_bytes = kLargest, .depth = 64});
  for (;;) {
    const Result<std::optional<RpcMessage>> next = reader.next();
    if (!next) co_return next.error();
    if (*next) {
      const RpcMessage message = **next;
      const Result<void> taken = co_await take(&message);
      if (!taken) co_return taken.error();
      continue;
    }
    reader.rest();
    const std::span<char> room = reader.room();
    const Duration patience = follows_ ? kSilence : kFirstAnswer;
    const Result<std::size_t> got =
        co_await stream_->read_some(room, runtime_.deadline_in(patience));
    if (!got && got.error().code == Errc::kTimeout && follows_)
      co_return Error{Errc::kTimeout, "silent for an hour; it is read anew"};
    if (!got) co_return got.error();
    reader.received(*got);
  }
}

/// One at a time, as a stream wants it.
Task<Result<void>> ContentWatch::send(std::string bytes, Deadline deadline) {
  while (writing_) co_await written_.wait();
  const std::shared_ptr<runtime::Stream> stream = stream_;
  if (!stream) co_return fail(Errc::kClosed, "{}: not connected", database_);
  // On every way out, also of a task that is cancelled, another may write.
  struct Leave {
    ContentWatch* of;
    ~Leave() {
      of->writing_ = false;
      of->written_.notify();
    }
  };
  writing_ = true;
  const Leave leave{this};
  Result<void> written = co_await stream->write(bytes, deadline);
  co_return written;
}

Task<Result<void>> ContentWatch::catch_up(Deadline deadline) {
  const std::shared_ptr<runtime::Stream> stream = stream_;
  if (!follows_ || !stream) co_return fail(Errc::kClosed, "{}: not followed", database_);
  const std::uint64_t id = ++asked_;
  std::string request;
  codec::append_request(request, id, "echo", "[]");
  const Result<void> sent = co_await send(std::move(request), deadline);
  if (!sent) co_return with_context(sent, "{}: catch up", database_);
  while (answered_ < id) {
    if (stream != stream_) co_return fail(Errc::kClosed, "{}: catch up", database_);
    if (deadline.passed(runtime_.now())) co_return fail(Errc::kTimeout, "{}: catch up", database_);
    co_await runtime_.sleep_until(runtime_.now() + kEchoLook);
  }
  co_return Result<void>();
}

Task<Result<void>> ContentWatch::take(const RpcMessage* message) {
  std::string answer;
  if (message->kind == RpcMessage::Kind::kNotification) {
    const Result<bool> changed = tracker_.apply(*message);
    if (!changed) co_return std::unexpected(changed.error());
    if (*changed) {
      push();
      changed_();
    }
  } else if (message->kind == RpcMessage::Kind::kRequest) {
    if (message->method == "echo") codec::append_echo_reply(answer, *message);
  } else if (message->answers(kSchema)) {
    const Result<std::vector<std::string>> tables = codec::read_tables(*message);
    if (!tables) co_return std::unexpected(tables.error());
    codec::append_request(answer, kMonitor, "monitor", codec::watch_content(database_, *tables));
  } else if (message->answers(kMonitor)) {
    const Result<void> begun = tracker_.begin(*message);
    if (!begun) co_return begun;
    follows_ = true;
    complaint_.reset();
    push();
    changed_();
  } else {
    for (std::uint64_t id = answered_ + 1; id <= asked_; ++id) {
      if (message->answers(id)) answered_ = id;
    }
  }
  if (answer.empty()) co_return Result<void>();
  const Deadline soon = runtime_.deadline_in(kEcho);
  const Result<void> written = co_await send(std::move(answer), soon);
  co_return written;
}

}  // namespace wardmote::act::failover
