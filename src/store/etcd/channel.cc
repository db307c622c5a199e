#include "store/etcd/channel.h"

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::store::etcd {

using codec::Http2Session;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr codec::Http2Limits kLimits{.window = 1 << 20, .unsent = 4 << 20};
/// etcd sends up to 4 MiB at a time by default, and a range of its keys as large as it is.
constexpr std::size_t kLongestMessage = 32 << 20;
/// For a server that takes nothing.
constexpr Duration kSendPatience = std::chrono::seconds(10);

/// Whoever cancels this cannot know that it does not run already, so it holds on to the event.
Task<void> wake(runtime::Runtime* runtime, std::shared_ptr<runtime::Event> event, TimePoint at) {
  co_await runtime->sleep_until(at);
  event->notify();
}

/// Wakes those who wait on `event` at a deadline, unless it goes before.
struct Alarm {
  Alarm(runtime::Runtime& runtime, runtime::TaskGroup& tasks, std::shared_ptr<runtime::Event> event,
        TimePoint at)
      : group(tasks), id(tasks.spawn("etcd deadline", wake(&runtime, std::move(event), at))) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { group.cancel(id); }
  runtime::TaskGroup& group;
  runtime::TaskGroup::TaskId id;
};

}  // namespace

Channel::Channel(runtime::Runtime& runtime, runtime::TaskGroup& tasks,
                 std::unique_ptr<runtime::Stream> stream, std::string scheme, std::string authority)
    : runtime_(runtime),
      tasks_(tasks),
      connection_(runtime, std::move(stream), kLimits),
      scheme_(std::move(scheme)),
      authority_(std::move(authority)),
      arrived_(runtime.executor()),
      to_send_(runtime.executor()) {}

std::shared_ptr<Channel> Channel::open(runtime::Runtime& runtime, runtime::TaskGroup& tasks,
                                       std::unique_ptr<runtime::Stream> stream, std::string scheme,
                                       std::string authority) {
  std::shared_ptr<Channel> channel(
      new Channel(runtime, tasks, std::move(stream), std::move(scheme), std::move(authority)));
  tasks.spawn("etcd receive", receive_all(channel));
  tasks.spawn("etcd send", send_all(channel));
  return channel;
}

Task<void> Channel::receive_all(std::shared_ptr<Channel> self) {
  while (!self->broken_) {
    const Result<void> received =
        co_await self->connection_.receive(self->runtime_.deadline_in(kSilence));
    if (!received) self->fail_with(received.error());
    self->arrived_.notify();
  }
}

Task<void> Channel::send_all(std::shared_ptr<Channel> self) {
  while (!self->broken_) {
    if (!std::exchange(self->unsent_, false)) {
      co_await self->to_send_.wait();
      continue;
    }
    const Result<void> sent =
        co_await self->connection_.send(self->runtime_.deadline_in(kSendPatience));
    if (!sent) self->fail_with(sent.error());
  }
}

void Channel::fail_with(const Error& error) {
  if (!broken_) broken_ = error;
  connection_.close();
  arrived_.notify();
  to_send_.notify();
}

void Channel::close() noexcept {
  fail_with({Errc::kClosed, "another endpoint is tried"});
}

bool Channel::takes_calls() noexcept {
  return !broken_ && connection_.session().takes_calls();
}

Result<std::unique_ptr<Channel::Call>> Channel::begin(std::string_view path,
                                                      codec::HeaderFields more,
                                                      std::optional<Duration> left) {
  if (broken_) return std::unexpected(*broken_);
  codec::HeaderFields headers = codec::grpc_headers(scheme_, authority_, path, left);
  for (codec::HeaderField& field : more) headers.push_back(std::move(field));
  const Result<Http2Session::CallId> id = connection_.session().open(headers);
  if (!id) return std::unexpected(id.error());
  return std::make_unique<Call>(shared_from_this(), *id);
}

Channel::Call::Call(std::shared_ptr<Channel> channel, Http2Session::CallId id)
    : channel_(std::move(channel)), id_(id), framer_(kLongestMessage) {}

Channel::Call::~Call() {
  channel_->connection_.session().close(id_);
  channel_->unsent_ = true;
  channel_->to_send_.notify();
}

Result<void> Channel::Call::send(std::string_view message, bool last) {
  const Result<void> queued =
      channel_->connection_.session().send(id_, codec::encode_grpc_message(message), last);
  channel_->unsent_ = true;
  channel_->to_send_.notify();
  return queued;
}

Task<Result<std::optional<std::string>>> Channel::Call::next(Deadline deadline) {
  std::optional<Alarm> alarm;
  for (;;) {
    Result<std::optional<std::string>> message = take();
    if (!message || *message) co_return message;
    const bool ended = channel_->connection_.session().call(id_).ended;
    if (ended) co_return std::optional<std::string>();
    if (channel_->broken_) co_return std::unexpected(*channel_->broken_);
    if (deadline.passed(channel_->runtime_.now())) co_return fail(Errc::kTimeout, "no answer");
    if (!alarm) {
      std::shared_ptr<runtime::Event> arrived(channel_, &channel_->arrived_);
      alarm.emplace(channel_->runtime_, channel_->tasks_, std::move(arrived), deadline.at);
    }
    co_await channel_->arrived_.wait();
  }
}

Result<std::optional<std::string>> Channel::Call::take() {
  Http2Session& session = channel_->connection_.session();
  const codec::Http2Call& call = session.call(id_);
  if (!checked_ && !call.headers.empty()) {
    const Result<void> good = codec::check_grpc_headers(call.headers);
    if (!good) return std::unexpected(good.error());
    checked_ = true;
  }
  for (;;) {
    Result<std::optional<std::string>> message = framer_.next();
    if (!message || *message) return message;
    if (session.call(id_).data.empty()) return message;
    framer_.feed(session.take_data(id_));
    // The server may send as much again.
    channel_->unsent_ = true;
    channel_->to_send_.notify();
  }
}

Result<codec::GrpcStatus> Channel::Call::status() const {
  return codec::read_grpc_status(channel_->connection_.session().call(id_));
}

}  // namespace wardmote::store::etcd
