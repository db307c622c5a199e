#include "incidents/notifier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/dispatcher.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/record_writer.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "judge/thing.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/notify_control.h"
#include "store/clock_pair.h"
#include "store/notify_record.h"

namespace wardmote::incidents {

using judge::ThingKind;
using judge::notify::DeadLetter;
using judge::notify::Group;
using judge::notify::Notice;
using judge::notify::Silence;
using runtime::Task;
using enum judge::DeliveryChanged::Result;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMostDead = 100;
constexpr std::size_t kMostTests = 8;
/// How long a silence is shown after its end.
constexpr Duration kKeepSilences = 24h;
constexpr Duration kTestLasts = 5min;
/// How often a receiver that forgets is told what stands; Prometheus tells Alertmanager as often.
constexpr Duration kRemindEvery = 1min;
constexpr std::string_view kTestGroup = "test";

store::ClockPair clock_of(const runtime::Runtime& runtime) {
  return {runtime.now(), runtime.wall_now()};
}

}  // namespace

Notifier::Notifier(runtime::Runtime& runtime, RecordWriter& records, ChangeFeed& feed,
                   const config::Node& own, NotifierOptions options)
    : runtime_(runtime),
      records_(records),
      feed_(feed),
      own_(own),
      router_(std::move(options.policy)),
      muting_(std::move(options.maintenance)),
      dispatcher_(
          runtime, std::move(options.receivers),
          [this](const Notice& notice, const act::notify::DeliveryResult& result) {
            on_delivery(notice, result);
          },
          [this](const Notice& notice) { return records_.leads() && is_due(notice); }),
      wake_up_(runtime, "notify", [this] { pump(); }),
      remind_(runtime, "remind receivers", [this] { remind(); }) {
  muting_.set_configured(std::move(options.silences));
  for (auto& [name, kind] : options.kinds) states_[name].kind = std::move(kind);
}

void Notifier::ask_confirmed(std::function<bool(const judge::incident::Incident&)> confirmed) {
  confirmed_ = std::move(confirmed);
  router_.ask_confirmed(confirmed_);
}

void Notifier::ask_storms(Storms storms) {
  storms_ = std::move(storms);
  router_.ask_raging(storms_.rages);
}

Task<Result<void>> Notifier::recall() {
  const std::uint64_t term = records_.term();
  const auto silences = co_await records_.load(std::string(store::kSilencePrefix));
  if (!silences) co_return std::unexpected(silences.error());
  const auto groups = co_await records_.load(std::string(store::kGroupPrefix));
  if (!groups) co_return std::unexpected(groups.error());
  // Whoever was told meanwhile must not be told again.
  if (term != records_.term()) co_return fail(Errc::kRejected, "the lead has passed on meanwhile");
  // Another agent may have told since this one led. What waited to be sent is in the records, or
  // was told.
  dispatcher_.forget_waiting();
  router_ = judge::notify::Router(router_.policy());
  router_.ask_confirmed(confirmed_);
  router_.ask_raging(storms_.rages);
  mirror_silences(*silences);
  recall_groups(*groups);
  router_.set_receivers(dispatcher_.receivers(), runtime_.now());
  put_changed();
  schedule();
  plan_reminder();
  co_return Result<void>();
}

void Notifier::mirror_silences(const std::map<std::string, std::string>& records) {
  const std::vector<Silence> known = muting_.silences();
  for (const Silence& silence : known) {
    if (!records.contains(store::silence_key(silence.id))) muting_.remove(silence.id);
  }
  for (const auto& [key, record] : records) {
    if (!key.starts_with(store::kSilencePrefix)) continue;
    auto silence = store::decode_silence(record);
    if (silence) {
      muting_.put(*std::move(silence));
    } else {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
    }
  }
}

void Notifier::recall_groups(const std::map<std::string, std::string>& records) {
  ++readings_;
  for (const auto& [key, record] : records) {
    auto group = store::decode_group(record, clock_of(runtime_));
    if (!group) {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      continue;
    }
    if (!dispatcher_.knows(group->receiver)) {
      log(LogLevel::kWarning, "receiver_is_gone",
          {{"receiver", group->receiver}, {"group", group->id}});
      router_.recall(*std::move(group));
      continue;
    }
    // It was written down before it was sent: nobody knows how far that came.
    if (group->pending) ++states_[group->receiver].repeated;
    router_.recall(*std::move(group));
  }
}

void Notifier::catch_up(const judge::incident::Incident& incident) {
  router_.renew(incident);
  router_.catch_up(incident, runtime_.now());
  put_changed();
  schedule();
}

Task<void> Notifier::stop() {
  co_await wake_up_.stop();
  co_await remind_.stop();
  co_await dispatcher_.stop();
}

void Notifier::reload(NotifierOptions options) {
  const TimePoint now = runtime_.now();
  for (auto& [name, kind] : options.kinds) states_[name].kind = std::move(kind);
  dispatcher_.reload(std::move(options.receivers));
  const std::set<std::string> names = dispatcher_.receivers();
  std::erase_if(states_, [&](const auto& state) { return !names.contains(state.first); });
  router_.reroute(std::move(options.policy), names, now);
  muting_.set_maintenance(std::move(options.maintenance));
  muting_.set_configured(std::move(options.silences));
  router_.muting_changed(now);
  put_changed();
  schedule();
  plan_reminder();
}

void Notifier::consider(const judge::incident::Incident& incident,
                        const judge::notify::Labels& labels) {
  router_.consider(incident, labels, runtime_.now());
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
  if (!records_.leads()) return;
  std::vector<Notice> notices = router_.take(muting_, runtime_.now(), runtime_.wall_now());
  for (const std::int64_t id : muting_.forget(runtime_.wall_now(), kKeepSilences)) {
    records_.put(store::silence_key(id), std::nullopt);
  }
  put_changed();
  if (!notices.empty()) {
    for (Notice& notice : notices) {
      notice.reading = readings_;
      tell_apart(notice);
    }
    records_.after_writing([this, kept = std::move(notices)] {
      // Who leads now has them from the records, or finds them by itself.
      if (!records_.leads()) return;
      for (const Notice& notice : kept) dispatcher_.send(notice);
    });
  }
  schedule();
}

/// Who recovers single things gets those of a storm that fail now, and that a route leads to it.
void Notifier::tell_apart(Notice& notice) const {
  if (!storms_.parts || !router_.policy().recover.contains(notice.receiver)) return;
  for (judge::notify::NoticeItem& item : notice.items) {
    if (!item.incident.storm) continue;
    item.parts = storms_.parts(item.incident);
    std::erase_if(item.parts, [&](const judge::notify::NoticePart& part) {
      return !router_.leads_to(notice.receiver, part.labels) ||
             muting_.until(part.labels, runtime_.wall_now());
    });
  }
}

/// What waits is known to have been taken when an attempt of this agent's earlier lead succeeds.
bool Notifier::is_due(const Notice& notice) const {
  if (notice.reminds || notice.group == kTestGroup) return true;
  const auto group = router_.groups().find(notice.group);
  return group != router_.groups().end() && group->second.pending &&
         group->second.pending->notice.number == notice.number;
}

/// Not written down and not counted: the next one says the same.
void Notifier::remind() {
  plan_reminder();
  if (!records_.leads()) return;
  for (const std::string& receiver : dispatcher_.forgetful()) {
    // One that is slow is not told more, and nothing overtakes a notice that waits.
    if (!dispatcher_.idle(receiver)) continue;
    for (Notice& notice : router_.reminders(receiver, muting_, runtime_.wall_now())) {
      dispatcher_.send(std::move(notice));
    }
  }
}

void Notifier::plan_reminder() {
  if (!dispatcher_.forgetful().empty()) remind_.at(runtime_.now() + kRemindEvery);
}

void Notifier::put_changed() {
  const store::ClockPair clock = clock_of(runtime_);
  for (const std::string& id : router_.take_changed()) {
    const auto group = router_.groups().find(id);
    records_.put(store::group_key(id), group == router_.groups().end()
                                           ? std::nullopt
                                           : std::optional(store::encode(group->second, clock)));
  }
}

std::map<std::string, std::string> Notifier::records() const {
  const store::ClockPair clock = clock_of(runtime_);
  std::map<std::string, std::string> records;
  for (const auto& [id, group] : router_.groups())
    records[store::group_key(id)] = store::encode(group, clock);
  for (const Silence& silence : muting_.silences())
    records[store::silence_key(silence.id)] = store::encode(silence);
  return records;
}

void Notifier::schedule() {
  if (const auto next = router_.next_due()) wake_up_.at(std::max(*next, runtime_.now()));
}

void Notifier::on_delivery(const Notice& notice, const act::notify::DeliveryResult& result) {
  if (notice.reminds) return;
  if (!dispatcher_.knows(notice.receiver)) return;  // it was taken out while it was told
  const TimePoint now = runtime_.now();
  serve::ReceiverState& state = states_[notice.receiver];
  const bool again = state.last && state.last->key == notice.key();
  state.last = {.key = notice.key(),
                .good = result && result->complaint.empty(),
                .reason = result ? result->complaint : result.error().reason,
                .at = now};
  if (notice.group == kTestGroup) {
    state.tests.push_back(*state.last);
    if (state.tests.size() > kMostTests) state.tests.pop_front();
  }
  if (result) {
    ++state.delivered;
    router_.delivered(notice.group, notice.number, now, result->dropped);
    tell(kDelivered, notice, result->complaint);
  } else if (notice.reading != readings_) {
    // The attempt is of an earlier lead. What was to be told then is tried again already.
    ++state.refused;
  } else {
    ++state.refused;
    // Once for a notice: a receiver that is away for hours is no news each time.
    if (!again) tell(kRefused, notice, result.error().reason);
    auto letter =
        router_.refused(notice.group, notice.number, result.error(), now, runtime_.random());
    if (letter) give_up(*std::move(letter));
  }
  put_changed();
  schedule();
}

void Notifier::give_up(DeadLetter letter) {
  ++states_[letter.notice.receiver].dead;
  tell(kUndelivered, letter.notice,
       fmt::format("given up after {} attempts: {}", letter.attempts, letter.reason));
  dead_.push_back(std::move(letter));
  if (dead_.size() > kMostDead) dead_.pop_front();
}

void Notifier::tell(judge::DeliveryChanged::Result result, const Notice& notice,
                    const std::string& reason) {
  std::vector<std::int64_t> incidents;
  incidents.reserve(notice.items.size());
  for (const judge::notify::NoticeItem& item : notice.items) incidents.push_back(item.incident.id);
  feed_.tell({ThingKind::kReceiver, notice.receiver},
             judge::DeliveryChanged{.result = result,
                                    .key = notice.key(),
                                    .incidents = std::move(incidents),
                                    .detail = reason});
}

Result<void> Notifier::takes_orders() const {
  if (!records_.leads()) return fail(Errc::kRejected, "{}", records_.another_leads());
  return {};
}

Result<Silence> Notifier::add_silence(Silence silence) {
  if (const Result<void> taken = takes_orders(); !taken) return std::unexpected(taken.error());
  for (const judge::notify::Matcher& matcher : silence.match) {
    const Result<void> known = judge::notify::check_label(matcher, own_.labels);
    if (!known) return std::unexpected(known.error());
  }
  silence.id = muting_.next_id();
  muting_.put(silence);
  records_.put(store::silence_key(silence.id), store::encode(silence));
  feed_.tell({ThingKind::kSilence, std::to_string(silence.id)},
             judge::SilenceChanged{true, silence.until, silence.by, silence.comment});
  return silence;
}

Result<void> Notifier::expire_silence(std::int64_t id) {
  if (const Result<void> taken = takes_orders(); !taken) return taken;
  const auto found = std::ranges::find(muting_.silences(), id, &Silence::id);
  if (found == muting_.silences().end() || found->until <= runtime_.wall_now()) {
    return fail(Errc::kMissing, "no silence of this number lasts");
  }
  Silence silence = *found;
  silence.until = runtime_.wall_now();
  records_.put(store::silence_key(id), store::encode(silence));
  muting_.put(std::move(silence));
  feed_.tell({ThingKind::kSilence, std::to_string(id)}, judge::SilenceChanged{});
  router_.muting_changed(runtime_.now());
  schedule();
  return {};
}

Result<judge::notify::Labels> Notifier::complete(const judge::notify::Labels& given) const {
  for (const auto& [name, value] : given) {
    const Result<void> known = judge::notify::check_label({.label = name}, own_.labels);
    if (!known) return std::unexpected(known.error());
  }
  judge::incident::Incident incident;
  if (const auto root = given.find("root"); root != given.end()) incident.root = root->second;
  judge::notify::Labels labels = incident_labels(incident, own_.labels, own_.name);
  // What nobody gave is not known, and so is an empty label, as in a matcher.
  labels.erase("code");
  labels.erase("severity");
  if (incident.root.empty()) {
    for (const char* const name : {"root", "scope", "subject"}) labels.erase(name);
  }
  for (const auto& [name, value] : given) labels[name] = value;
  return labels;
}

Result<std::string> Notifier::send_test(const std::string& receiver) {
  if (dispatcher_.knows(receiver)) return send_test_to(receiver);
  std::vector<std::string> members;
  for (const auto& [member, name] : router_.policy().configured_as) {
    if (name == receiver) members.push_back(member);
  }
  if (members.empty()) return fail(Errc::kMissing, "there is no such receiver");
  if (members.size() == 1) return send_test_to(members.front());
  return fail(Errc::kInvalid, "{} has several members: name one of {}", receiver,
              fmt::join(members, ", "));
}

std::string Notifier::send_test_to(const std::string& receiver) {
  Notice notice;
  notice.group = kTestGroup;
  // Also over restarts no two tests are taken for one.
  tests_ = std::max(tests_ + 1,
                    static_cast<std::uint64_t>(to_ms(runtime_.wall_now().time_since_epoch())));
  notice.number = tests_;
  notice.receiver = receiver;
  notice.labels = {{"test", "true"}};
  notice.reading = readings_;
  judge::notify::NoticeItem item;
  item.kind = judge::notify::NoticeKind::kOpened;
  item.labels = {{"test", "true"}, {"severity", "info"}};
  item.incident.root = "test";
  item.incident.severity = judge::Severity::kInfo;
  item.incident.code = judge::Code::kCheckFailed;
  item.incident.summary = "this is a test of the way to " + receiver + "; nothing is wrong";
  item.incident.opened = item.incident.since = runtime_.now();
  // So that a receiver that keeps count sees it end by itself.
  item.incident.resolved = runtime_.now() + kTestLasts;
  notice.items.push_back(std::move(item));
  std::string key = notice.key();
  dispatcher_.send(std::move(notice));
  return key;
}

}  // namespace wardmote::incidents
