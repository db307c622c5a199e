// The promotion, the position that the active node publishes, and its end in good order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/acts.h"
#include "act/failover/pair_leader.h"
#include "act/failover/pair_manager.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"
#include "judge/failover/member.h"
#include "judge/journal_entry.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::act::failover {

using judge::failover::Candidacy;
using judge::failover::Choice;
using judge::failover::Copy;
using judge::failover::Member;
using judge::failover::PairRecord;
using judge::failover::Relation;
using runtime::Deadline;
using runtime::Task;
using store::Compare;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPromotion = 10s;
constexpr Duration kStorePatience = 2s;
constexpr Duration kRole = 2s;
constexpr Duration kPublishEvery = 1s;
constexpr std::size_t kPublished = 8;
constexpr Duration kCatchUpLook = 5ms;
constexpr std::uint64_t kHistory = 100;

bool has_last(const judge::failover::Trail& copy, const judge::failover::Trail& given) {
  const Relation relation = relate(copy, given);
  return relation == Relation::kSame || relation == Relation::kAhead;
}

}  // namespace

/// Journals the intent, looks once more at what the store has, and promotes.
class PairManager::Promotion final : public Act {
 public:
  explicit Promotion(PairManager& manager) : manager_(manager) {}

  ActRecord intent() override { return entry("intent", "this node is to be promoted"); }
  Task<std::optional<std::string>> recheck(Deadline deadline) override {
    std::optional<std::string> objection = co_await manager_.objection_now(false, deadline);
    co_return objection;
  }
  Task<Result<std::string>> carry_out(Deadline) override {
    Result<std::string> did = co_await manager_.become_active();
    co_return did;
  }
  ActRecord ended(const Result<std::string>& did) override {
    if (did) return entry("result", *did + ": " + manager_.candidacy_.reason);
    return entry("result", "not promoted: " + did.error().describe());
  }
  ActRecord dropped(const std::string& why) override {
    return entry("dropped", "not done: " + why);
  }
  void not_begun() override {}

 private:
  [[nodiscard]] ActRecord entry(std::string kind, std::string detail) const {
    ActRecord record;
    record.entry.kind = std::move(kind);
    record.entry.step = "promote";
    record.entry.cluster = manager_.options_.name;
    record.entry.subject = manager_.options_.node;
    record.entry.actor = "failover";
    record.entry.detail = std::move(detail);
    return record;
  }

  PairManager& manager_;
};

Task<std::optional<std::string>> PairManager::objection_now(bool begun, Deadline deadline) {
  const Deadline soon{std::min(deadline.at, runtime_.now() + kStorePatience)};
  const Result<void> read = co_await view_.read(soon);
  if (!read && read.error().code != Errc::kRejected) co_return read.error().describe();
  co_await look();
  co_await assess();
  const std::vector<Member> others = peers();
  Choice wanted = choice();
  wanted.begun = begun;
  const Candidacy now = judge_candidate(own_, others, record(), wanted);
  if (now.verdict != Candidacy::Verdict::kGo) co_return now.reason;
  if (paused()) co_return "failover is paused";
  candidacy_ = now;
  co_return std::nullopt;
}

Task<bool> PairManager::promote() {
  ActLog* const journal = journal_();
  if (journal == nullptr) {
    complaint_ = "the journal is not open yet, and nobody is promoted without an intent in it";
    co_return false;
  }
  Acts acts(runtime_, *journal, *leader_);
  Promotion promotion(*this);
  const Acts::Outcome outcome =
      co_await acts.carry_out(&promotion, runtime_.deadline_in(kPromotion));
  if (outcome == Acts::Outcome::kNotBegun) {
    complaint_ = "the journal does not take the intent";
    // Others do not wait for this node.
    be_unfit(*complaint_);
  }
  co_return true;
}

/// Under the fence of the lease, and only if nobody else wrote the record since it was read.
Task<Result<void>> PairManager::write_pair(PairRecord record,
                                           std::vector<store::StoreChange> more) {
  std::optional<Compare> fence = leader_->fence();
  if (!leads() || !fence) co_return fail(Errc::kRejected, "this node does not lead any more");
  const auto before = view_.find(keys_.pair());
  store::Transaction transaction;
  transaction.conditions.push_back(*std::move(fence));
  transaction.conditions.push_back(before
                                       ? Compare::unchanged_since(before->key, before->mod_revision)
                                       : Compare::absent(keys_.pair()));
  transaction.changes.emplace_back(store::Put{keys_.pair(), store::encode(record)});
  for (store::StoreChange& change : more) transaction.changes.push_back(std::move(change));
  const auto put =
      co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kStorePatience));
  if (!put) co_return with_context(put, "write what all nodes know");
  if (!put->held) co_return fail(Errc::kRejected, "another node wrote what all nodes know");
  // What comes next builds on this.
  const Deadline seen = runtime_.deadline_in(kStorePatience);
  while (view_.revision() < put->revision) {
    if (seen.passed(runtime_.now())) co_return fail(Errc::kTimeout, "read what was written");
    co_await runtime_.sleep_until(runtime_.now() + kCatchUpLook);
  }
  co_return Result<void>();
}

/// They may take long, and nothing that was known before is known after them.
Task<Result<void>> PairManager::run_programs(std::uint64_t epoch) {
  if (options_.fence.empty() && options_.hooks.pre_promote.empty()) co_return Result<void>();
  Result<void> done = co_await fence_last();
  if (done) done = co_await ask_hook();
  if (!done) {
    // Who lost the lease meanwhile may have it again and be fit.
    if (leads()) be_unfit(done.error().describe());
    co_return done;
  }
  const auto objection = co_await objection_now(true, runtime_.deadline_in(kRole));
  if (objection) co_return fail(Errc::kRejected, "{}", *objection);
  if (record().claimed != epoch)
    co_return fail(Errc::kRejected, "another node wrote what all nodes know");
  co_return done;
}

/// The order is what keeps it safe: a number that nobody had, both writable, a write that both
/// disks took, and only then all nodes know of it; the address comes after that.
Task<Result<std::string>> PairManager::become_active() {
  PairRecord next = record();
  std::uint64_t highest = std::max({next.claimed, next.epoch, own_.position.epoch});
  for (const Member& peer : peers()) highest = std::max(highest, peer.position.epoch);
  next.claimed = highest + 1;
  const std::uint64_t epoch = next.claimed;
  Result<void> done = co_await write_pair(next, {});
  if (!done) co_return std::unexpected(done.error());
  done = co_await run_programs(epoch);
  if (!done) co_return std::unexpected(done.error());
  next = record();
  const Deadline deadline = runtime_.deadline_in(kRole);
  if (!leads()) done = fail(Errc::kRejected, "this node does not lead any more");
  if (done) done = co_await nb_.promote(deadline);
  if (done) done = co_await sb_.promote(deadline);
  if (done) done = co_await nb_.stamp(epoch, options_.node, deadline);
  if (done) done = co_await sb_.stamp(epoch, options_.node, deadline);
  if (!done) be_unfit(done.error().describe());
  if (done) {
    // Where that fails, the position is published later.
    static_cast<void>(co_await content_.catch_up(deadline));
    const std::string given_up_for = next.released ? next.heir : std::string();
    next.epoch = epoch;
    next.active = options_.node;
    next.token = std::get<std::int64_t>(leader_->fence()->operand);
    next.released = false;
    next.heir.clear();
    next.published = own_.position;
    next.trail = content_.ring().newest(kPublished);
    next.sb_trail.clear();
    std::vector<store::StoreChange> more;
    const store::FailoverEvent event{.epoch = epoch,
                                     .node = options_.node,
                                     .reason = candidacy_.reason,
                                     .at = runtime_.wall_now()};
    more.emplace_back(store::Put{keys_.history(epoch), encode(event)});
    if (epoch > kHistory)
      more.emplace_back(store::Erase{store::KeyRange::one(keys_.history(epoch - kHistory))});
    // An order whose heir did not come after all is not carried out twice.
    if (auto order = open_order();
        order && (order->to.empty() || order->to == options_.node || order->to == given_up_for)) {
      order->answer = fmt::format("{} was promoted in epoch {}", options_.node, epoch);
      more.emplace_back(store::Put{keys_.order(), encode(*order)});
    }
    done = co_await write_pair(next, std::move(more));
  }
  if (!done || !leads()) {
    const Result<void> back = co_await isolate();
    if (!back)
      log(LogLevel::kError, "failover_not_isolated",
          {{"pair", options_.name}, {"reason", back.error().describe()}});
    if (!done) co_return std::unexpected(done.error());
    co_return fail(Errc::kRejected, "this node does not lead any more");
  }
  promoted_nb_ = nb_.process();
  promoted_sb_ = sb_.process();
  promoted_token_ = next.token;
  promoted_at_ = runtime_.now();
  co_return fmt::format("{} is the active node in epoch {}", options_.node, epoch);
}

/// Not at each commit: whoever is to be promoted had the last of these contents, and may have more.
Task<void> PairManager::publish_position() {
  const auto& ring = content_.ring();
  const std::vector<judge::failover::ContentHash> newest = ring.newest(kPublished);
  const bool due = runtime_.now() - position_at_ >= kPublishEvery && content_.follows() &&
                   !newest.empty() && newest.back() != position_told_;
  if (!due) co_return;
  PairRecord next = record();
  next.published = own_.position;
  next.trail = newest;
  position_at_ = runtime_.now();
  const Result<void> done = co_await write_pair(std::move(next), {});
  if (done) position_told_ = newest.back();
  if (!done) complaint_ = done.error().describe();
}

/// No client writes any more, the heir gets the last rows, and everybody knows that these were the
/// last. Without an heir the last content is published for whoever has it.
Task<Result<void>> PairManager::hand_over(std::string heir, Duration patience) {
  if (holds_address_ || links_.has(options_.address.address))
    drop_address("this node hands over to " + (heir.empty() ? std::string("nobody") : heir));
  Result<void> frozen = co_await isolate();
  promoted_token_ = 0;
  // The heir must have the very last row.
  const Deadline soon = runtime_.deadline_in(kRole);
  if (frozen) frozen = co_await content_.catch_up(soon);
  if (frozen && sb_content_.follows()) frozen = co_await sb_content_.catch_up(soon);
  if (!frozen) co_return frozen;
  PairRecord next = record();
  next.published = own_.position;
  next.trail = content_.ring().newest(kPublished);
  if (next.trail.empty()) co_return fail(Errc::kInternal, "nobody knows what this copy has");
  next.sb_trail.clear();
  if (sb_content_.follows()) next.sb_trail = sb_content_.ring().newest(kPublished);
  next.heir = heir;
  Result<void> done = co_await write_pair(next, {});
  if (!done) co_return done;
  const Deadline end = runtime_.deadline_in(patience);
  bool has_all = heir.empty();
  while (!has_all) {
    for (const Member& peer : peers()) {
      // One that hangs could not be promoted, whatever it has.
      const bool follows = peer.nb == Copy::kFollowing && peer.sb == Copy::kFollowing;
      has_all = has_all || (peer.name == heir && follows && has_last(peer.trail, next.trail) &&
                            (next.sb_trail.empty() || has_last(peer.sb_trail, next.sb_trail)));
    }
    if (has_all) break;
    if (end.passed(runtime_.now()) || !leads()) {
      next.heir.clear();
      static_cast<void>(co_await write_pair(next, {}));
      co_return fail(Errc::kTimeout, "{} did not get the last rows", heir);
    }
    co_await runtime_.sleep_until(runtime_.now() + kCatchUpLook);
  }
  next.released = true;
  done = co_await write_pair(std::move(next), {});
  co_return done;
}

}  // namespace wardmote::act::failover
