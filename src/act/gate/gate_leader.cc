#include "act/gate/gate_leader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "act/gate/gate_node.h"
#include "act/gate/progress.h"
#include "act/gate/reconciler.h"
#include "act/gate/records.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/election.h"
#include "store/plan_record.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::act::gate {

using judge::version_gate::Clearance;
using judge::version_gate::Progress;
using judge::version_gate::Write;
using runtime::Task;
using store::Compare;
using store::Put;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 5s;
constexpr Duration kTryAgain = 200ms;
constexpr Duration kConditionFailed = 50ms;
/// A pass that takes longer may hang, and nobody knows meanwhile whether all is as it should be.
constexpr Duration kLongPass = 3s;
/// Between two times in the election, so that a node that comes and goes makes no storm of leases.
constexpr Duration kPause = 500ms;

Compare since(const std::string& key, store::Revision revision) {
  return revision == 0 ? Compare::absent(key) : Compare::unchanged_since(key, revision);
}

std::vector<std::string> names_of(const Clearance& clearance) {
  std::vector<std::string> names;
  names.reserve(clearance.nodes.size());
  for (const auto& member : clearance.nodes) names.push_back(member.node);
  return names;
}

/// When a pass ends, also when it is cancelled.
template <class Call>
class AtEnd {
 public:
  explicit AtEnd(Call call) : call_(std::move(call)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { call_(); }

 private:
  Call call_;
};

}  // namespace

GateLeader::GateLeader(runtime::Runtime& runtime, store::Store& store, GateNode& node,
                       Reconciler& reconciler, LeaderOptions options)
    : runtime_(runtime),
      store_(store),
      node_(node),
      reconciler_(reconciler),
      options_(std::move(options)),
      pauses_(runtime, store, options_.pause_key, [this] { wake(); }),
      woken_(runtime.executor()),
      passes_(runtime.executor()),
      tasks_(runtime.executor()) {}

void GateLeader::start() {
  node_.listen([this] { wake(); });
  reconciler_.listen([this] {
    disturbed_ = true;
    wake();
  });
  if (!options_.pause_key.empty()) pauses_.start();
  tasks_.spawn("gate leader " + node_.options().gate, run());
}

Task<void> GateLeader::stop() {
  // The work ends first, so that nobody begins beside it.
  co_await passes_.stop();
  co_await tasks_.stop();
  co_await pauses_.stop();
  if (election_) co_await election_->stop();
  election_.reset();
  leader_.reset();
}

void GateLeader::wake() {
  // At once, and not when whatever is awaited has ended: the store may hang while the lease ends.
  if (passing_ && !may_pass()) passes_.cancel(pass_task_);
  dirty_ = true;
  woken_.notify();
}

void GateLeader::wake_at(TimePoint at) {
  if (alarm_at_ && *alarm_at_ == at) return;
  if (alarm_at_) tasks_.cancel(alarm_task_);
  alarm_at_ = at;
  alarm_task_ = tasks_.spawn("gate alarm", alarm(at));
}

Task<void> GateLeader::alarm(TimePoint at) {
  co_await runtime_.sleep_until(at);
  alarm_at_.reset();
  wake();
}

std::optional<judge::plan::Pause> GateLeader::pause() const {
  judge::plan::Pause unread{.by = "a store that was not read yet"};
  if (node_.state().revision() == 0) return unread;
  if (auto paused = pause_in(node_.state().find(node_.options().layout.pause()))) return paused;
  if (options_.pause_key.empty()) return std::nullopt;
  if (pauses_.revision() == 0) return unread;
  return pause_in(pauses_.find(options_.pause_key));
}

bool GateLeader::all_paused() const {
  return pause() && node_.state().revision() > 0 &&
         !pause_in(node_.state().find(node_.options().layout.pause()));
}

std::optional<judge::plan::Pause> GateLeader::pause_in(
    const std::optional<store::KeyValue>& record) const {
  if (!record) return std::nullopt;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  auto pause = pause_reader_.read(record->key, record->value, clock);
  if (!pause) return judge::plan::Pause{.by = "a record that cannot be read"};
  if (pause->until && *pause->until <= clock.now) return std::nullopt;
  return *std::move(pause);
}

bool GateLeader::may_stand() const {
  // Of who does not see its own registration yet every claim would fail.
  return !pause() && node_.sees_itself() &&
         judge::version_gate::may_campaign(node_.facts().nodes, node_.options().own.release,
                                           node_.facts().preserved);
}

std::optional<std::string> GateLeader::complaint() const {
  if (const auto paused = pause())
    return fmt::format("paused by {}: this node does not reconcile", escape_control(paused->by));
  return election_ ? election_->complaint() : std::nullopt;
}

Task<void> GateLeader::run() {
  for (;;) {
    while (!dirty_) co_await woken_.wait();
    dirty_ = false;
    if (const auto paused = pause(); paused && paused->until) wake_at(*paused->until);
    if (!may_stand()) continue;
    election_ = std::make_unique<store::Election>(
        runtime_, store_,
        store::ElectionOptions{.name = node_.options().layout.election(),
                               .candidate = node_.options().self.node,
                               .ttl = options_.ttl});
    election_->listen([this](bool leads) {
      lost_ = lost_ || !leads;
      wake();
    });
    election_->start();
    co_await stand();
    // The work has ended: the next may begin.
    co_await election_->stop();
    election_.reset();
    co_await runtime_.sleep_until(runtime_.now() + kPause);
    dirty_ = true;
  }
}

Task<void> GateLeader::stand() {
  bool stays = true;
  while (stays) {
    dirty_ = false;
    if (passing_ && !may_pass()) co_await end_pass();
    if (lost_ || !election_->leads()) {
      lost_ = false;
      forget();
    }
    stays = may_stand();
    if (stays && election_->leads()) co_await step();
    while (stays && !dirty_) co_await woken_.wait();
  }
  if (passing_) co_await end_pass();
  forget();
}

void GateLeader::forget() {
  leader_.reset();
  passed_.reset();
  well_ = false;
  said_.reset();
}

bool GateLeader::may_pass() const {
  return !lost_ && election_->leads() && leader_ && leader_->may_write(node_.facts()) &&
         may_stand();
}

Task<void> GateLeader::step() {
  using judge::version_gate::Leader;
  const std::optional<Compare> fence = election_->fence();
  if (!fence) co_return;
  if (!leader_) {
    leader_.emplace(node_.options().own, options_.timing);
    token_ = std::get<std::int64_t>(fence->operand);
  }
  if (passed_ && !passing_) co_await settle_pass();
  if (std::exchange(disturbed_, false)) leader_->disturbed(runtime_.now());
  const Leader::Step next = leader_->next(node_.facts(), runtime_.now());
  if (const auto* const blocked = std::get_if<Leader::Blocked>(&next)) {
    std::string why = describe(blocked->clearance, node_.options().own);
    co_await say("blocked", std::move(why), names_of(blocked->clearance));
  } else if (const auto* const wait = std::get_if<Leader::Wait>(&next)) {
    co_await rest(wait->until);
  } else if (std::holds_alternative<Leader::Read>(next)) {
    const Result<void> read = co_await node_.read_again(runtime_.deadline_in(kPatience));
    if (!read) co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    dirty_ = true;
  } else if (const auto* const write = std::get_if<Write>(&next)) {
    Write order = *write;
    co_await commit(std::move(order));
    dirty_ = true;
  } else if (std::holds_alternative<Leader::Pass>(next)) {
    co_await begin_pass();
  }
  // StandDown: may_stand() says the same.
  if (std::holds_alternative<Leader::Busy>(next)) co_await say_if_long();
}

Task<void> GateLeader::say_if_long() {
  if (runtime_.now() < long_after_ || !said_ || said_->step != "resting") co_return;
  co_await say("passing", "the pass takes long: it is not known whether all is as it should be",
               {});
}

Task<void> GateLeader::settle_pass() {
  const Result<void> ended = *std::exchange(passed_, std::nullopt);
  well_ = ended.has_value();
  if (ended) {
    leader_->passed(runtime_.now());
    co_return;
  }
  constexpr std::uint64_t kParts = 1 << 20;
  leader_->failed(runtime_.now(), static_cast<double>(runtime_.random() % kParts) / kParts);
  std::string why = ended.error().describe();
  co_await say("failing", std::move(why), {});
}

Task<void> GateLeader::rest(TimePoint until) {
  wake_at(until);
  if (well_) {
    co_await say("resting", "after the last pass all objects were as they should be", {});
  } else if (!said_ || said_->step == "blocked") {
    co_await say("waiting", "the writes of an earlier leader may still arrive", {});
  }
}

Task<void> GateLeader::begin_pass() {
  passed_.reset();
  if (!may_pass()) {
    // It was lost while something else was awaited.
    passed_ = fail(Errc::kClosed, "it may not write any more");
    dirty_ = true;
    co_return;
  }
  passing_ = true;
  long_after_ = runtime_.now() + kLongPass;
  wake_at(long_after_);
  pass_task_ = passes_.spawn("gate pass", pass());
  // The passes after a whole one are no news.
  if (well_ || (said_ && said_->step == "failing")) co_return;
  co_await say("passing", "objects are written", {});
}

store::Transaction GateLeader::transaction_of(const Write& write, Compare fence) const {
  const Layout& at = node_.options().layout;
  store::Transaction made;
  made.conditions.push_back(std::move(fence));
  made.conditions.push_back(since(at.status(), write.status_unchanged_since));
  made.conditions.push_back(since(at.claim(), write.claim_unchanged_since));
  if (write.nodes_unchanged_since) {
    made.conditions.push_back({.keys = store::KeyRange::prefix(at.nodes),
                               .target = Compare::Target::kModRevision,
                               .relation = Compare::Relation::kLess,
                               .operand = *write.nodes_unchanged_since + 1});
  }
  // Who did not hear of an operator's order yet claims nothing.
  const auto preserved = node_.state().find(at.preserve());
  if (write.claim)
    made.conditions.push_back(since(at.preserve(), preserved ? preserved->mod_revision : 0));
  const auto stored = node_.state().find(at.status());
  const std::string before = stored ? stored->value : "";
  if (write.claim) {
    made.changes.emplace_back(
        Put{at.claim(), fmt::format("{} {}", node_.options().self.node, token_)});
  }
  if (write.quarantine && stored)
    made.changes.emplace_back(Put{at.quarantine(stored->mod_revision), before});
  if (write.status)
    made.changes.emplace_back(Put{at.status(), write_status(*write.status, before)});
  return made;
}

Task<void> GateLeader::commit(Write write) {
  // The lease may have been lost while something else was awaited.
  std::optional<Compare> fence = election_->fence();
  if (!fence) co_return;
  store::Transaction transaction = transaction_of(write, *std::move(fence));
  const auto put = co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kPatience));
  if (!put) {
    // Whatever came of it, the conditions of the next one find out.
    log(LogLevel::kWarning, "gate_write_unknown",
        {{"gate", node_.options().gate}, {"reason", put.error().describe()}});
    leader_->unsure();
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    co_return;
  }
  leader_->written(put->held, put->revision, runtime_.now());
  if (!put->held) {
    // A key of ours that is gone is noticed in a moment.
    co_await runtime_.sleep_until(runtime_.now() + kConditionFailed);
    co_return;
  }
  log(LogLevel::kInfo, write.claim ? "gate_claimed" : "gate_reconciled",
      {{"gate", node_.options().gate},
       {"case", std::string(to_string(leader_->which()))},
       {"token", std::to_string(token_)}});
  if (write.claim) well_ = false;
}

Task<void> GateLeader::pass() {
  const AtEnd ended([this] {
    passing_ = false;
    wake();
  });
  PassOrder order{.gate = node_.options().gate,
                  .node = node_.options().self.node,
                  .own = node_.options().own,
                  .token = token_,
                  .write_until = [this] {
                    return may_pass() ? std::optional(election_->work_until()) : std::nullopt;
                  }};
  passed_ = co_await reconciler_.pass(std::move(order));
}

Task<void> GateLeader::end_pass() {
  log(LogLevel::kWarning, "gate_pass_ended", {{"gate", node_.options().gate}});
  passes_.cancel(pass_task_);
  while (passing_) co_await woken_.wait();
  if (!passed_) passed_ = fail(Errc::kClosed, "it may not write any more");
}

/// For `explain` on every node. To lose it costs nothing, so it is not tried again.
Task<void> GateLeader::say(std::string step, std::string why, std::vector<std::string> nodes) {
  Progress progress{.node = node_.options().self.node,
                    .token = token_,
                    .step = std::move(step),
                    .why = std::move(why),
                    .nodes = std::move(nodes),
                    .since = runtime_.wall_now()};
  if (said_ && said_->step == progress.step && said_->why == progress.why &&
      said_->nodes == progress.nodes)
    co_return;
  std::optional<Compare> fence = election_->fence();
  if (!fence) co_return;
  store::Transaction transaction;
  transaction.conditions.push_back(*std::move(fence));
  transaction.changes.emplace_back(
      Put{node_.options().layout.progress(), write_progress(progress)});
  const auto put = co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kPatience));
  if (put && put->held) said_ = std::move(progress);
}

}  // namespace wardmote::act::gate
