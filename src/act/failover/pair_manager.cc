#include "act/failover/pair_manager.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/failover/pair_leader.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "runtime/links.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/election.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::act::failover {

using judge::failover::Duty;
using judge::failover::PairReport;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kTick = 200ms;
/// The kernel counts the life of an address in seconds.
constexpr Duration kProlong = 400ms;
constexpr Duration kLeave = 2s;
constexpr Duration kLastHook = 5s;
constexpr Duration kHear = 1s;
/// An answer takes no longer where the store is well.
constexpr Duration kUnheard = 3s;

/// Until it has looked it says nothing that anybody could build on.
std::string nothing_known() {
  judge::failover::Member member;
  member.position.empty = true;
  member.unfit = "it has not looked yet";
  return store::encode(member);
}

}  // namespace

PairManager::PairManager(runtime::Runtime& runtime, store::Store& store, runtime::Links& links,
                         PairOptions options, std::function<ActLog*()> journal)
    : runtime_(runtime),
      store_(store),
      links_(links),
      options_(std::move(options)),
      keys_(options_.name),
      journal_(std::move(journal)),
      view_(runtime, store, keys_.prefix, [this] { wake(); }),
      content_(runtime, options_.nb.socket, options_.nb.database,
               [this] {
                 if (heir_) wake();
               }),
      sb_content_(runtime, options_.sb.socket, options_.sb.database,
                  [this] {
                    if (heir_) wake();
                  }),
      nb_(runtime, options_.nb),
      sb_(runtime, options_.sb),
      presence_(runtime, store, keys_.member(options_.node), nothing_known(), options_.ttl),
      leader_(std::make_unique<Leader>(*this)),
      woken_(runtime.executor()),
      writes_(runtime.executor()),
      tasks_(runtime.executor()) {
  own_.name = options_.node;
  own_.position.empty = true;
}

PairManager::~PairManager() = default;

void PairManager::start() {
  view_.start();
  content_.start();
  sb_content_.start();
  presence_.start();
  tasks_.spawn("failover " + options_.name, run());
  tasks_.spawn("failover clock " + options_.name, tick());
  tasks_.spawn("failover store " + options_.name, hear_store());
  if (options_.acts) tasks_.spawn("failover address " + options_.name, keep_address());
  if (options_.acts && !options_.hooks.on_role_change.empty())
    tasks_.spawn("failover roles " + options_.name, tell_roles());
}

Task<void> PairManager::stop() {
  const bool active = options_.acts && leads() && promoted_here();
  co_await tasks_.stop();
  if (options_.acts && holds_address_) drop_address("this agent ends");
  if (active) {
    std::string refusal;
    std::string heir = heir_for({}, &refusal);
    const Result<void> gave = co_await hand_over(std::move(heir), kLeave);
    if (!gave)
      log(LogLevel::kWarning, "failover_not_handed_over",
          {{"pair", options_.name}, {"reason", gave.error().describe()}});
  }
  if (election_) co_await election_->stop();
  election_.reset();
  co_await writes_.stop();
  co_await presence_.stop();
  // After all that others wait for.
  if (told_primary_ == true) co_await tell_role(false, std::min(options_.hooks.timeout, kLastHook));
  co_await content_.stop();
  co_await sb_content_.stop();
  co_await view_.stop();
}

void PairManager::wake() {
  dirty_ = true;
  woken_.notify();
}

Task<void> PairManager::tick() {
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kTick);
    wake();
  }
}

/// A watch says nothing when nothing happens, so somebody has to ask.
Task<void> PairManager::hear_store() {
  for (;;) {
    const TimePoint begun = runtime_.now();
    std::string key = keys_.pair();
    const auto found = co_await store_.get(std::move(key), runtime_.deadline_in(kHear));
    if (found) heard_ = begun;
    if (!view_.complaint() && view_.revision() > 0) {
      view_bad_.reset();
    } else if (!view_bad_) {
      view_bad_ = begun;
    }
    co_await runtime_.sleep_until(std::max(runtime_.now(), begun + kHear));
  }
}

/// Not in the loop of run(): that may wait for a server that is busy.
Task<void> PairManager::keep_address() {
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kProlong);
    if (!holds_address_) continue;
    if (!leads()) {
      drop_address("the lease is over");
      continue;
    }
    const Result<void> held = take_address();
    address_complaint_ = held ? std::nullopt : std::optional(held.error().describe());
  }
}

Task<void> PairManager::run() {
  for (;;) {
    dirty_ = false;
    co_await look();
    co_await assess();
    publish();
    decide();
    bool again = false;
    if (options_.acts) {
      judge::failover::NextDuty next = decided_;
      again = co_await carry_out(next);
    }
    if (again) continue;
    while (!dirty_) co_await woken_.wait();
  }
}

namespace {

/// Who of the pair does not say anything.
std::vector<std::string> missing_of(const PairOptions& options,
                                    std::span<const judge::failover::Member> others) {
  std::vector<std::string> missing;
  for (const std::string& name : options.members) {
    const bool there =
        name == options.node ||
        std::ranges::find(others, name, &judge::failover::Member::name) != others.end();
    if (!there) missing.push_back(name);
  }
  return missing;
}

/// For people.
std::string order_text(std::string_view record) {
  const auto order = store::decode_failover_order(record);
  if (!order) return "a record that cannot be read; the next order replaces it";
  return fmt::format("{} wants {}{}: {}", order->by, order->to.empty() ? "another node" : order->to,
                     order->forced ? ", whatever the others have" : "",
                     order->answer.empty() ? "not taken up yet" : order->answer);
}

}  // namespace

PairReport PairManager::report() const {
  PairReport report;
  report.name = options_.name;
  report.node = options_.node;
  report.acts = options_.acts;
  report.ttl = options_.ttl;
  report.address = fmt::format("{}/{} on {}", options_.address.address, options_.address.prefix,
                               options_.address.interface);
  report.has_address = links_.has(options_.address.address);
  if (const auto key = leader_key()) report.leader = escape_control(key->value);
  report.lock = find_lock();
  // What the others do meanwhile is not seen.
  if (report.lock == judge::failover::Lock::kNone &&
      (!heard_ || runtime_.now() - *heard_ > kUnheard))
    report.lock = judge::failover::Lock::kUnknown;
  if (report.lock == judge::failover::Lock::kOther) report.active = record().active;
  if (announced()) report.active = options_.node;
  report.next = decided_;
  report.candidacy = candidacy_;
  report.own = own_;
  report.members = peers();
  report.record = record();
  report.serves = serves();
  report.missing = missing_of(options_, report.members);
  for (const std::string& name : report.missing) {
    const store::FailoverSettings edited = settings_of(name);
    if (!edited.empty())
      report.edited.push_back({name, edited.nofailover, edited.priority, edited.by});
  }
  if (const auto pause = paused()) report.paused_by = pause->by;
  if (const auto key = view_.find(keys_.order())) report.order = order_text(key->value);
  if (const auto waits = scheduled()) {
    report.scheduled_at = waits->at;
    report.scheduled =
        fmt::format("{}: {}", waits->by, waits->to.empty() ? "another node" : waits->to);
  } else if (view_.find(keys_.schedule())) {
    report.complaints.push_back(fmt::format(
        "the scheduled switchover is a record that cannot be read and does not happen: 'wardmote "
        "failover flush {}' takes it away",
        options_.name));
  }
  const std::string past = keys_.prefix + "history/";
  for (const auto& [name, key] : view_.keys()) {
    if (!name.starts_with(past)) continue;
    const auto event = store::decode_failover_event(key.value);
    if (event) report.history.push_back({event->epoch, event->node, event->reason, event->at});
  }
  if (heard_) report.age = runtime_.now() - *heard_;
  for (const auto* const each :
       {&complaint_, &address_complaint_, &view_.complaint(), &presence_.complaint(),
        &content_.complaint(), &sb_content_.complaint(), &hook_complaint_, &program_complaint_}) {
    if (*each) report.complaints.push_back(escape_control(**each));
  }
  return report;
}

}  // namespace wardmote::act::failover
