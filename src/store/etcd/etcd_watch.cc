#include "store/etcd/etcd_watch.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "codec/grpc.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/etcd/channel.h"
#include "store/etcd/client.h"
#include "store/etcd/status.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store::etcd {

using codec::etcd::WatchResponse;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kPath = "/etcdserverpb.Watch/Watch";
/// After so long without a word the server is asked for one, and then it has so long.
constexpr Duration kQuiet = 5s;
constexpr Duration kAnswer = 3s;
constexpr Duration kFirstPause = 50ms;
constexpr Duration kLongestPause = 1s;

}  // namespace

EtcdWatch::EtcdWatch(runtime::Runtime& runtime, Client& client, SeenRevision& seen,
                     codec::etcd::Keys keys, std::string prefix, Revision from)
    : runtime_(runtime),
      client_(client),
      seen_(seen),
      keys_(std::move(keys)),
      prefix_(std::move(prefix)),
      history_(seen.mark().history),
      next_(std::max<Revision>(from, 1)) {}

Task<Result<WatchBatch>> EtcdWatch::next(Deadline deadline) {
  while (!deadline.passed(runtime_.now())) {
    if (const Result<void> same = same_history(); !same) co_return std::unexpected(same.error());
    if (!call_) {
      co_await runtime_.sleep_until(std::min(deadline.at, runtime_.now() + pause_));
      if (deadline.passed(runtime_.now())) break;  // why it broke off is known, and stays so
      const Result<void> opened = co_await open(deadline);
      if (!opened) break_off(opened.error());
      continue;
    }
    Result<WatchResponse> response = co_await receive(deadline);
    if (!response) {
      if (response.error().code != Errc::kTimeout) break_off(response.error());
      continue;
    }
    Result<WatchBatch> batch = digest(*std::move(response));
    if (batch || batch.error().code == Errc::kMissing) co_return batch;
    if (batch.error().code != Errc::kTimeout) break_off(batch.error());
    if (std::exchange(news_, false)) co_return fail(Errc::kTimeout, "etcd: it is there again");
  }
  // A server that says nothing at all has not said that nothing has happened.
  if (live_) co_return fail(Errc::kTimeout, "no events");
  if (!broken_.context.empty()) co_return std::unexpected(broken_);
  co_return fail(Errc::kClosed, "etcd: watch: no answer yet");
}

Result<void> EtcdWatch::same_history() {
  if (seen_.mark().history == history_) return {};
  break_off({Errc::kMissing, "set back"});
  return fail(Errc::kMissing, "etcd: the store was set back, and revision {} is another one",
              next_);
}

Task<Result<void>> EtcdWatch::open(Deadline deadline) {
  std::string path(kPath);
  auto call = co_await client_.stream(std::move(path), deadline);
  if (!call) co_return std::unexpected(call.error());
  call_ = *std::move(call);
  fragments_ = {};
  heard_ = runtime_.now();
  asked_ = false;
  live_ = false;
  opened_ = seen_.mark();
  co_return call_->send(codec::etcd::encode_watch_create(keys_, next_), false);
}

void EtcdWatch::break_off(const Error& why) {
  broken_ = why;
  if (broken_.code == Errc::kTimeout) broken_.code = Errc::kClosed;
  live_ = false;
  pause_ = std::clamp(pause_ * 2, Duration(kFirstPause), Duration(kLongestPause));
  if (!call_) return;
  client_.fail_over(call_->channel());
  call_.reset();
}

Task<Result<WatchResponse>> EtcdWatch::receive(Deadline deadline) {
  const TimePoint patience = heard_ + (asked_ ? kQuiet + kAnswer : kQuiet);
  const Deadline end{std::min(deadline.at, patience)};
  Result<std::optional<std::string>> message = co_await call_->next(end);
  if (!message && message.error().code == Errc::kTimeout) {
    if (runtime_.now() < patience) co_return std::unexpected(message.error());
    if (asked_) co_return fail(Errc::kClosed, "etcd: watch: the server has fallen silent");
    asked_ = true;
    const Result<void> sent = call_->send(codec::etcd::encode_watch_progress(), false);
    if (!sent) co_return std::unexpected(sent.error());
    co_return std::unexpected(message.error());
  }
  if (!message) co_return with_context(message, "etcd: watch");
  heard_ = runtime_.now();
  asked_ = false;
  if (*message) co_return codec::etcd::decode_watch(**message);
  const Result<codec::GrpcStatus> status = call_->status();
  if (!status) co_return with_context(status, "etcd: watch");
  if (status->code == 0) co_return fail(Errc::kClosed, "etcd: watch: ended by the server");
  Error error = error_of(*status);
  // kTimeout would mean that nothing has happened, and kMissing that events are gone.
  if (error.code == Errc::kTimeout || error.code == Errc::kMissing) error.code = Errc::kClosed;
  co_return std::unexpected(Error{error.code, "etcd: watch: " + error.context});
}

Result<WatchBatch> EtcdWatch::digest(WatchResponse response) {
  if (const Result<void> same = same_history(); !same) return std::unexpected(same.error());
  if (response.canceled) {
    if (response.compact_revision != 0) {
      break_off({Errc::kMissing, "compacted"});
      return fail(Errc::kMissing, "etcd: revision {} is forgotten already", next_);
    }
    // What does not have the right to read is told in so many words only.
    const bool denied = response.cancel_reason.contains("permission denied");
    return fail(denied ? Errc::kDenied : Errc::kClosed, "etcd: watch: {}",
                escape_control(response.cancel_reason));
  }
  pause_ = {};
  broken_ = {};
  live_ = true;
  if (response.created) {
    const bool behind = response.revision + 1 < next_ || response.revision < opened_.revision;
    if (!behind) {
      news_ = answered_ && !resumed_;
      resumed_ = answered_;
      answered_ = true;
      return fail(Errc::kTimeout, "created");
    }
    // etcd accepts a revision of the future, and would say nothing until it comes: this is another
    // history, or a member that is far behind. Whoever lists the keys then learns which.
    break_off({Errc::kMissing, "behind"});
    return fail(Errc::kMissing, "etcd: revision {} is not there yet: the store is at {}",
                std::max(next_ - 1, opened_.revision), response.revision);
  }
  for (codec::etcd::Event& event : response.events) {
    std::string_view name = event.key.key;
    if (!consume_prefix(name, prefix_)) return fail(Errc::kProtocol, "etcd: another key");
    KeyEvent one{event.removed, {.key = std::string(name), .mod_revision = event.key.mod_revision}};
    if (!event.removed) {
      one.key.value = std::move(event.key.value);
      one.key.create_revision = event.key.create_revision;
      one.key.version = event.key.version;
      one.key.lease = event.key.lease;
    }
    fragments_.events.push_back(std::move(one));
  }
  if (response.fragment) return fail(Errc::kTimeout, "more follows");
  if (fragments_.events.empty()) {
    // A progress of this watch says that nothing is missing. One that was asked for, of all watches
    // (-1), may come too early (etcd issue 15220, in 3.4.23).
    if (response.watch_id >= 0) next_ = std::max(next_, response.revision + 1);
    seen_.see(response.revision);
    return fail(Errc::kTimeout, "progress");
  }
  WatchBatch batch = std::exchange(fragments_, {});
  // The header may be ahead of events that are still to come.
  batch.upto = batch.events.back().key.mod_revision;
  seen_.see(batch.upto);
  std::erase_if(batch.events,
                [this](const KeyEvent& event) { return event.key.mod_revision < next_; });
  next_ = std::max(next_, batch.upto + 1);
  if (batch.events.empty()) return fail(Errc::kTimeout, "events that were seen before");
  return batch;
}

}  // namespace wardmote::store::etcd
