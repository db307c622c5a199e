#include "observe/ovn/server_watch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "codec/ovsdb.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task_group.h"

namespace wardmote::observe::ovn {

using codec::MonitorFlavour;
using codec::RpcMessage;
using runtime::Deadline;
using runtime::Task;

namespace {

/// The next weaker method of those that a server of OVS 2.9 to 2.11, or older, may not know.
std::optional<MonitorFlavour> weaker(MonitorFlavour flavour) noexcept {
  switch (flavour) {
    case MonitorFlavour::kMonitorCondSince: return MonitorFlavour::kMonitorCond;
    case MonitorFlavour::kMonitorCond: return MonitorFlavour::kMonitor;
    case MonitorFlavour::kMonitor: break;
  }
  return std::nullopt;
}

constexpr std::size_t kMaxUnsent = 64 << 10;
/// The limit for a change of one row. Every watch holds this much memory while it waits, which is
/// nearly always.
constexpr std::size_t kRoom = 512;

codec::FrameLimits limits() {
  codec::FrameLimits limits = RpcOptions{}.limits;
  limits.room = kRoom;
  return limits;
}

}  // namespace

struct ServerWatch::Session {
  explicit Session(std::unique_ptr<runtime::Stream> opened)
      : stream(std::move(opened)), reader(limits()) {}

  std::unique_ptr<runtime::Stream> stream;
  codec::JsonRpcReader reader;
  MonitorFlavour flavour = MonitorFlavour::kMonitorCondSince;
  std::uint64_t monitor_id = 0;
  std::uint64_t last_id = 0;
  std::string unsent;  ///< only the task in write() writes; the others append
  bool writing = false;
};

ServerWatch::ServerWatch(runtime::Runtime& runtime, runtime::Endpoint ovsdb, std::string database,
                         Nudge nudge, WatchOptions options)
    : runtime_(runtime),
      ovsdb_(std::move(ovsdb)),
      database_(std::move(database)),
      nudge_(std::move(nudge)),
      options_(options),
      tracker_(database_),
      retry_(options.first_retry) {}

ServerWatch::~ServerWatch() = default;

Task<void> ServerWatch::run() {
  std::vector<Task<void>> tasks;
  tasks.push_back(keep_watching());
  tasks.push_back(keep_echoing());
  co_await runtime::run_all(runtime_.executor(), std::move(tasks));
}

Task<void> ServerWatch::keep_watching() {
  for (;;) {
    const TimePoint begun = runtime_.now();
    Error error = co_await watch_once();
    const bool was_watching = std::exchange(watching_, false);
    if (!lost_ || *lost_ != error) {
      log(LogLevel::kInfo, "ovsdb_watch_lost",
          {{"server", to_string(ovsdb_)}, {"reason", error.describe()}});
    }
    const Duration pause = pause_after(error, begun);
    lost_ = std::move(error);
    if (was_watching) nudge_();
    co_await runtime_.sleep_until(runtime_.now() + pause);
  }
}

/// The pause grows after each failure, and only a connection that has lasted makes it short again,
/// so that a server which accepts and closes at once is not hammered.
Duration ServerWatch::pause_after(const Error& error, TimePoint begun) {
  if (codec::is_unknown_method(error)) return options_.unsupported_retry;
  if (runtime_.now() - begun >= options_.last_retry) retry_ = options_.first_retry;
  const Duration pause = retry_;
  retry_ = std::min(2 * retry_, options_.last_retry);
  // Half of the pause is random: agents that lost the same server do not come back at the same
  // moment.
  const auto half = static_cast<std::uint64_t>(pause.count() / 2 + 1);
  return pause / 2 + Duration(static_cast<Duration::rep>(runtime_.random() % half));
}

Task<Error> ServerWatch::watch_once() {
  const Deadline deadline = runtime_.deadline_in(options_.connect_timeout);
  auto stream = co_await runtime_.connect(ovsdb_, deadline);
  if (!stream) co_return stream.error();
  const auto session = std::make_shared<Session>(*std::move(stream));
  const Result<void> sent = co_await ask(session, deadline);
  if (!sent) co_return sent.error();
  session_ = session;
  Error error = co_await read_messages(session);
  session_.reset();
  session->stream->close();
  co_return error;
}

Task<Result<void>> ServerWatch::ask(std::shared_ptr<Session> session, Deadline deadline) {
  session->monitor_id = ++session->last_id;
  std::string request;
  codec::append_request(request, session->monitor_id, method_of(session->flavour),
                        codec::watch_server_row(session->flavour, database_));
  Result<void> sent = co_await write(session, std::move(request), deadline);
  co_return sent;
}

Task<Error> ServerWatch::read_messages(std::shared_ptr<Session> session) {
  for (;;) {
    const auto next = session->reader.next();
    if (!next) co_return next.error();
    if (*next) {
      const RpcMessage message = **next;
      const Result<void> taken = co_await take(session, &message);
      if (!taken) co_return taken.error();
      continue;
    }
    session->reader.rest();
    const std::span<char> room = session->reader.room();
    const Deadline sign_of_life = runtime_.deadline_in(options_.echo_every + options_.echo_timeout);
    const Result<std::size_t> got = co_await session->stream->read_some(room, sign_of_life);
    if (!got) co_return got.error();
    session->reader.received(*got);
  }
}

Task<Result<void>> ServerWatch::take(std::shared_ptr<Session> session, const RpcMessage* message) {
  if (message->kind == RpcMessage::Kind::kNotification) {
    const Result<bool> changed = tracker_.apply(*message);
    if (!changed) co_return std::unexpected(changed.error());
    if (*changed && watching_) nudge_();
    co_return Result<void>();
  }
  if (message->kind == RpcMessage::Kind::kRequest) {
    if (message->method != "echo") co_return Result<void>();
    std::string reply;
    codec::append_echo_reply(reply, *message);
    const Result<void> written =
        co_await write(session, std::move(reply), runtime_.deadline_in(options_.echo_timeout));
    co_return written;
  }
  if (message->answers(session->monitor_id)) {
    Result<void> begun = co_await begin(session, message);
    co_return begun;
  }
  if (message->answers(session->last_id)) co_return Result<void>();
  co_return fail(Errc::kProtocol, "a reply to nothing that was asked");
}

Task<Result<void>> ServerWatch::begin(std::shared_ptr<Session> session, const RpcMessage* reply) {
  const Result<void> begun = tracker_.begin(session->flavour, *reply);
  if (!begun) {
    const std::optional<MonitorFlavour> other = weaker(session->flavour);
    if (!other || !codec::is_unknown_method(begun.error())) co_return begun;
    session->flavour = *other;
    Result<void> asked = co_await ask(session, runtime_.deadline_in(options_.echo_timeout));
    co_return asked;
  }
  watching_ = true;
  // A change while nothing was watched; before the first connection, the scheduled probes see it.
  if (std::exchange(lost_, std::nullopt)) nudge_();
  co_return Result<void>();
}

/// One task for the whole life of the watch, whichever connection is open.
Task<void> ServerWatch::keep_echoing() {
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + options_.echo_every);
    const std::shared_ptr<Session> session = session_;
    if (!session) continue;
    std::string request;
    codec::append_request(request, ++session->last_id, "echo", "[]");
    const Result<void> sent =
        co_await write(session, std::move(request), runtime_.deadline_in(options_.echo_timeout));
    // The reader sees the end of the connection, and says why.
    if (!sent) session->stream->close();
  }
}

/// A stream has one writer at a time: a second writer leaves its bytes to the first.
Task<Result<void>> ServerWatch::write(std::shared_ptr<Session> session, std::string bytes,
                                      Deadline deadline) {
  if (session->unsent.size() > kMaxUnsent) co_return fail(Errc::kLimit, "the server does not read");
  session->unsent += bytes;
  if (session->writing) co_return Result<void>();
  session->writing = true;
  Result<void> written;
  while (written && !session->unsent.empty()) {
    const std::string batch = std::exchange(session->unsent, {});
    written = co_await session->stream->write(batch, deadline);
  }
  session->writing = false;
  co_return written;
}

}  // namespace wardmote::observe::ovn
