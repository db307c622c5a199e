#include "act/gate/gate_control.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "act/act_log.h"
#include "act/gate/gate_node.h"
#include "act/gate/records.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/journal_entry.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/plan_record.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::act::gate {

using judge::JournalEntry;
using judge::version_gate::Release;
using judge::version_gate::Stored;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 5s;
constexpr Duration kSeen = 1s;
constexpr Duration kLookAgain = 10ms;
constexpr std::size_t kShown = 64;

store::Put put(const std::string& key, std::string value) {
  return {key, std::move(value)};
}

store::Erase erase(const std::string& key) {
  return {store::KeyRange::one(key)};
}

/// `1.0.0, 1.1.0`: what is registered.
std::string releases_of(const judge::version_gate::Membership& nodes) {
  std::set<Release> known;
  for (const auto& [name, member] : nodes.members()) {
    if (member.release) known.insert(*member.release);
  }
  std::string text;
  for (const Release& release : known) text += (text.empty() ? "" : ", ") + to_string(release);
  return text.empty() ? "none" : text;
}

}  // namespace

GateControl::GateControl(runtime::Runtime& runtime, store::Store& store, const GateNode& node,
                         std::function<ActLog*()> journal)
    : runtime_(runtime),
      store_(store),
      node_(node),
      journal_(std::move(journal)),
      tasks_(runtime.executor()) {}

GateControl::Written GateControl::pause(Duration time, const std::string& by) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  judge::plan::Pause pause{.by = by};
  if (time > Duration::zero()) pause.until = clock.now + time;
  Order order{.step = "pause", .subject = {}, .by = by};
  order.detail = time > Duration::zero()
                     ? fmt::format("nobody writes objects for {}", spell_duration(time))
                     : "nobody writes objects until resume";
  order.key = node_.options().layout.pause();
  order.transaction.changes.emplace_back(put(order.key, store::encode(pause, clock)));
  return give(std::move(order));
}

GateControl::Written GateControl::resume(const std::string& by,
                                         const std::optional<judge::plan::Pause>& everything) {
  Order order{.step = "resume", .subject = {}, .by = by, .detail = "the pause ends"};
  order.key = node_.options().layout.pause();
  const auto record = node_.state().find(order.key);
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  const auto pause = record ? pause_reader_.read(record->key, record->value, clock)
                            : Result<judge::plan::Pause>(fail(Errc::kMissing, "no pause"));
  const bool over = pause && pause->until && *pause->until <= clock.now;
  if (!record || over) {
    if (everything)
      return fail(Errc::kRejected,
                  "everything is paused by {}, and not this gate by itself: 'wardmote resume' "
                  "ends that",
                  escape_control(everything->by, kShown));
    return fail(Errc::kRejected,
                "this gate is not paused by itself; if everything is, 'wardmote resume' ends that");
  }
  order.transaction.changes.emplace_back(erase(order.key));
  return give(std::move(order));
}

GateControl::Written GateControl::preserve(const Release& release, const std::string& by) {
  const auto facts = node_.facts();
  if (facts.stored.kind == Stored::Kind::kReadable && facts.stored.status.version > release)
    return fail(Errc::kRejected,
                "release {} has written the objects already: it is too late to "
                "preserve {}",
                to_string(facts.stored.status.version), to_string(release));
  const auto& held = node_.preserved();
  // A higher one would let newer nodes write what the first was to keep away.
  if (held && held->why.empty() && held->release < release)
    return fail(Errc::kRejected,
                "release {} is preserved, by {}: 'wardmote gate finalize {}' ends that first",
                to_string(held->release), held->by, node_.options().gate);
  const auto& members = facts.nodes.members();
  const bool there =
      std::ranges::any_of(members, [&](const auto& one) { return one.second.release == release; });
  if (!there)
    return fail(Errc::kRejected, "no node of release {} is registered, so nobody could write; {}",
                to_string(release), "registered are nodes of " + releases_of(facts.nodes));
  Order order{.step = "preserve", .subject = {}, .by = by};
  order.detail =
      fmt::format("only nodes of release {} and older ones write objects", to_string(release));
  // A newer release that writes the status meanwhile makes it too late.
  const std::string status = node_.options().layout.status();
  order.transaction.conditions.push_back(
      facts.stored.changed == 0 ? store::Compare::absent(status)
                                : store::Compare::unchanged_since(status, facts.stored.changed));
  order.key = node_.options().layout.preserve();
  const auto before = node_.state().find(order.key);
  order.transaction.conditions.push_back(
      before ? store::Compare::unchanged_since(order.key, before->mod_revision)
             : store::Compare::absent(order.key));
  order.transaction.changes.emplace_back(put(order.key, write_preserve(release, by)));
  return give(std::move(order));
}

GateControl::Written GateControl::finalize(const std::string& by) {
  Order order{.step = "finalize", .subject = {}, .by = by};
  order.detail = "nodes of the highest release write objects";
  order.key = node_.options().layout.preserve();
  order.transaction.changes.emplace_back(erase(order.key));
  return give(std::move(order));
}

GateControl::Written GateControl::forget(std::string_view node, const std::string& by) {
  if (node == node_.options().self.node)
    return fail(Errc::kRejected, "{} is this node, which lives", escape_control(node));
  const auto record = node_.registration(node);
  if (!record) return fail(Errc::kMissing, "no node '{}' is registered", escape_control(node));
  Order order{.step = "force-forget", .subject = std::string(node), .by = by};
  order.key = node_.options().layout.node(node);
  const auto member = read_member(node, record->value);
  order.detail =
      fmt::format("the registration of {} ({}) is removed", escape_control(node),
                  member && member->release ? to_string(*member->release) : "of unknown release");
  // One that has just registered anew lives.
  order.transaction.conditions.push_back(
      store::Compare::unchanged_since(order.key, record->mod_revision));
  order.transaction.changes.emplace_back(erase(order.key));
  return give(std::move(order));
}

GateControl::Written GateControl::give(Order order) {
  auto written = std::make_shared<control::Written>(runtime_.executor());
  tasks_.spawn("gate order", carry_out(std::move(order), written));
  return written;
}

JournalEntry GateControl::entry(const Order& order, std::string kind, std::string detail) const {
  JournalEntry entry;
  entry.kind = std::move(kind);
  entry.step = order.step;
  entry.cluster = node_.options().gate;
  entry.subject = order.subject;
  entry.actor = order.by;
  entry.detail = std::move(detail);
  return entry;
}

Task<std::optional<std::string>> GateControl::attempt(const Order* order, ActLog* journal) {
  const ActLog::Appended appended =
      co_await journal->append(entry(*order, "intent", order->detail), {});
  if (!appended.done) co_return "the journal: " + appended.done.error().describe();
  store::Transaction transaction = order->transaction;
  const auto put = co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kPatience));
  std::optional<std::string> complaint;
  if (!put) complaint = "the store: " + put.error().describe();
  if (put && !put->held) complaint = "it has just changed; look again, and repeat the order";
  if (!complaint) co_await see(order, put->revision);
  JournalEntry end = entry(*order, complaint ? "dropped" : "result", complaint.value_or("done"));
  const Result<void> noted = co_await journal->append_or_owe(std::move(end), {});
  static_cast<void>(noted);  // it is owed
  co_return complaint;
}

Task<void> GateControl::see(const Order* order, store::Revision revision) {
  const TimePoint end = runtime_.now() + kSeen;
  while (!node_.sees(order->key, revision) && runtime_.now() < end)
    co_await runtime_.sleep_until(runtime_.now() + kLookAgain);
}

Task<void> GateControl::carry_out(Order order, std::shared_ptr<control::Written> written) {
  ActLog* const journal = journal_();
  if (journal == nullptr) {
    written->done("the journal is not open yet");
    co_return;
  }
  std::optional<std::string> complaint = co_await attempt(&order, journal);
  written->done(std::move(complaint));
}

}  // namespace wardmote::act::gate
