#include "agent/notifier.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/dispatcher.h"
#include "agent/change_feed.h"
#include "agent/ledger.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/notify_desk.h"
#include "store/clock_pair.h"
#include "store/notify_record.h"

namespace wardmote::agent {

using judge::notify::DeadLetter;
using judge::notify::Group;
using judge::notify::Notice;
using judge::notify::Silence;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMostDead = 100;
/// How long a silence is shown after its end.
constexpr Duration kKeepSilences = 24h;
constexpr Duration kTestLasts = 5min;
constexpr std::string_view kTestGroup = "test";

store::ClockPair clock_of(const runtime::Runtime& runtime) {
  return {runtime.now(), runtime.wall_now()};
}

}  // namespace

Notifier::Notifier(runtime::Runtime& runtime, Ledger& ledger, ChangeFeed& feed,
                   NotifierOptions options)
    : runtime_(runtime),
      ledger_(ledger),
      feed_(feed),
      router_(std::move(options.policy)),
      muting_(std::move(options.maintenance)),
      dispatcher_(
          runtime, std::move(options.receivers),
          [this](const Notice& notice, const act::notify::Fate& fate) { fared(notice, fate); }),
      wake_up_(runtime, "notify", [this] { pump(); }) {
  muting_.set_configured(std::move(options.silences));
  for (auto& [name, kind] : options.kinds) states_[name].kind = std::move(kind);
}

Task<Result<void>> Notifier::recall() {
  Result<void> recalled = co_await recall_silences();
  if (!recalled) co_return recalled;
  recalled = co_await recall_groups();
  if (recalled) schedule();
  co_return recalled;
}

Task<Result<void>> Notifier::recall_silences() {
  const auto records = co_await ledger_.load(std::string(store::kSilencePrefix));
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, record] : *records) {
    auto silence = store::decode_silence(record);
    if (silence) {
      muting_.put(*std::move(silence));
    } else {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
    }
  }
  co_return Result<void>();
}

Task<Result<void>> Notifier::recall_groups() {
  const auto records = co_await ledger_.load(std::string(store::kGroupPrefix));
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, record] : *records) {
    auto group = store::decode_group(record, clock_of(runtime_));
    if (!group) {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      continue;
    }
    if (!dispatcher_.knows(group->receiver)) {
      log(LogLevel::kWarning, "receiver_is_gone",
          {{"receiver", group->receiver}, {"group", group->id}});
      ledger_.put(key, std::nullopt);
      continue;
    }
    // It was written down before it was sent: nobody knows how far that came.
    if (group->pending) ++states_[group->receiver].repeated;
    router_.recall(*std::move(group));
  }
  co_return Result<void>();
}

Task<void> Notifier::stop() {
  co_await wake_up_.stop();
  co_await dispatcher_.stop();
}

void Notifier::reload(NotifierOptions options) {
  const TimePoint now = runtime_.now();
  std::set<std::string> names;
  for (auto& [name, kind] : options.kinds) {
    states_[name].kind = std::move(kind);
    names.insert(name);
  }
  std::erase_if(states_, [&](const auto& state) { return !names.contains(state.first); });
  router_.reroute(std::move(options.policy), names, now);
  dispatcher_.reload(std::move(options.receivers));
  muting_.set_maintenance(std::move(options.maintenance));
  muting_.set_configured(std::move(options.silences));
  router_.muting_changed(now);
  put_changed();
  schedule();
}

void Notifier::hear(const judge::incident::Step& step, const judge::notify::Labels& labels) {
  router_.hear(step, labels, runtime_.now());
  put_changed();
  schedule();
}

/// Has what is due composed, written down, and then sent.
void Notifier::pump() {
  std::vector<Notice> notices = router_.take(muting_, runtime_.now(), runtime_.wall_now());
  for (const std::int64_t id : muting_.forget(runtime_.wall_now(), kKeepSilences)) {
    ledger_.put(store::silence_key(id), std::nullopt);
  }
  put_changed();
  if (!notices.empty()) {
    ledger_.after_writing([this, kept = std::move(notices)] {
      for (const Notice& notice : kept) dispatcher_.send(notice);
    });
  }
  schedule();
}

void Notifier::put_changed() {
  const store::ClockPair clock = clock_of(runtime_);
  for (const std::string& id : router_.take_changed()) {
    const auto group = router_.groups().find(id);
    ledger_.put(store::group_key(id), group == router_.groups().end()
                                          ? std::nullopt
                                          : std::optional(store::encode(group->second, clock)));
  }
}

void Notifier::schedule() {
  if (const auto next = router_.next_due()) wake_up_.at(std::max(*next, runtime_.now()));
}

void Notifier::fared(const Notice& notice, const act::notify::Fate& fate) {
  if (!dispatcher_.knows(notice.receiver)) return;  // it was taken out while it was told
  const TimePoint now = runtime_.now();
  serve::ReceiverState& state = states_[notice.receiver];
  const bool again = state.last_key == notice.key();
  state.last_key = notice.key();
  state.last_good = fate.has_value();
  state.last_reason = fate ? "" : fate.error().reason;
  state.last_at = now;
  if (fate) {
    ++state.delivered;
    router_.delivered(notice.group, notice.number, now);
    tell(LogLevel::kInfo, "notice_delivered", notice, "");
  } else {
    ++state.refused;
    // Once for a notice: a receiver that is away for hours is no news each time.
    if (!again) tell(LogLevel::kWarning, "notice_refused", notice, fate.error().reason);
    auto letter =
        router_.refused(notice.group, notice.number, fate.error(), now, runtime_.random());
    if (letter) bury(*std::move(letter));
  }
  put_changed();
  schedule();
}

void Notifier::bury(DeadLetter letter) {
  ++states_[letter.notice.receiver].dead;
  tell(LogLevel::kError, "notice_undelivered", letter.notice,
       fmt::format("given up after {} attempts: {}", letter.attempts, letter.reason));
  dead_.push_back(std::move(letter));
  if (dead_.size() > kMostDead) dead_.pop_front();
}

void Notifier::tell(LogLevel level, std::string_view kind, const Notice& notice,
                    const std::string& reason) {
  boost::json::object more;
  if (notice.items.size() == 1 && notice.items.front().incident.id > 0) {
    more["incident"] = notice.items.front().incident.id;
  }
  feed_.tell(level, kind,
             {{"receiver", notice.receiver},
              {"key", notice.key()},
              {"incidents", std::to_string(notice.items.size())},
              {"detail", reason}},
             std::move(more));
}

Silence Notifier::add_silence(Silence silence) {
  silence.id = muting_.next_id();
  muting_.put(silence);
  ledger_.put(store::silence_key(silence.id), store::encode(silence));
  feed_.tell(LogLevel::kInfo, "silence_added",
             {{"silence", std::to_string(silence.id)},
              {"by", silence.by},
              {"until", format_utc(silence.until)},
              {"comment", silence.comment}});
  return silence;
}

Result<void> Notifier::expire_silence(std::int64_t id) {
  const auto found = std::ranges::find(muting_.silences(), id, &Silence::id);
  if (found == muting_.silences().end() || found->until <= runtime_.wall_now()) {
    return fail(Errc::kMissing, "no silence of this number lasts");
  }
  Silence silence = *found;
  silence.until = runtime_.wall_now();
  ledger_.put(store::silence_key(id), store::encode(silence));
  muting_.put(std::move(silence));
  feed_.tell(LogLevel::kInfo, "silence_expired", {{"silence", std::to_string(id)}});
  router_.muting_changed(runtime_.now());
  put_changed();
  schedule();
  return {};
}

Result<std::string> Notifier::send_test(const std::string& receiver) {
  if (!dispatcher_.knows(receiver)) return fail(Errc::kMissing, "there is no such receiver");
  Notice notice;
  notice.group = kTestGroup;
  // Also over restarts no two tests are taken for one.
  tests_ = std::max(tests_ + 1,
                    static_cast<std::uint64_t>(to_ms(runtime_.wall_now().time_since_epoch())));
  notice.number = tests_;
  notice.receiver = receiver;
  notice.labels = {{"test", "true"}};
  judge::notify::NoticeItem item;
  item.tidings = judge::notify::Tidings::kBegan;
  item.labels = {{"test", "true"}, {"severity", "info"}};
  item.incident.root = "test";
  item.incident.severity = judge::Severity::kInfo;
  item.incident.code = judge::Code::kCheckFailed;
  item.incident.summary = "this is a test of the way to " + receiver + "; nothing is wrong";
  item.incident.opened = runtime_.now();
  // So that a receiver that keeps count sees it end by itself.
  item.incident.resolved = runtime_.now() + kTestLasts;
  notice.items.push_back(std::move(item));
  std::string key = notice.key();
  dispatcher_.send(std::move(notice));
  return key;
}

}  // namespace wardmote::agent
