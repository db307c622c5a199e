#include "judge/version_gate/leader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

bool Leader::is_as_we_left_it(const Facts& facts) const noexcept {
  return facts.stored.changed == status_at_ && facts.claimed == claim_at_;
}

bool Leader::may_write(const Facts& facts) const {
  return (phase_ == Phase::kPass || phase_ == Phase::kRest) && is_as_we_left_it(facts) &&
         may_campaign(facts.nodes, own_.release, facts.preserved);
}

Leader::Step Leader::next(const Facts& facts, TimePoint now) {
  if (facts.nodes.known() && !may_campaign(facts.nodes, own_.release, facts.preserved))
    return StandDown{};
  if (busy_) return Busy{};
  if (facts.read_at < needed_) return Read{};
  // Somebody removed or changed what this leader stands on: nothing is known of who serves.
  if (phase_ != Phase::kEnter && !is_as_we_left_it(facts)) phase_ = Phase::kEnter;
  switch (phase_) {
    case Phase::kEnter:
    case Phase::kClaim: return enter_gate(facts);
    case Phase::kRecord:
      busy_ = true;
      write_ = {.status_unchanged_since = status_at_,
                .claim_unchanged_since = claim_at_,
                .status = done(own_)};
      return write_;
    case Phase::kWait:
      if (now < next_at_) return Wait{next_at_};
      phase_ = Phase::kPass;
      break;
    case Phase::kPass:
    case Phase::kRest: break;
  }
  return order_pass(now);
}

Leader::Step Leader::order_pass(TimePoint now) {
  if (now < next_at_) return Wait{next_at_};
  busy_ = true;
  return Pass{};
}

Leader::Step Leader::enter_gate(const Facts& facts) {
  const Entry entry = enter(facts.stored, own_, facts.claimed > 0);
  std::optional<Revision> checked;
  if (entry.check_nodes) {
    if (facts.nodes.revision() < needed_) return Read{};
    Clearance clearance = clear(facts.nodes, own_, facts.preserved);
    if (clearance.verdict != Clearance::Verdict::kClear) return Blocked{std::move(clearance)};
    checked = facts.nodes.revision();
  }
  phase_ = Phase::kClaim;
  which_ = entry.which;
  busy_ = true;
  wait_ = entry.wait;
  stored_ = facts.stored.kind == Stored::Kind::kReadable ? std::optional(facts.stored.status)
                                                         : std::nullopt;
  status_at_ = facts.stored.changed;
  write_ = {.status_unchanged_since = facts.stored.changed,
            .claim_unchanged_since = facts.claimed,
            .nodes_unchanged_since = checked,
            .claim = true,
            .quarantine = entry.quarantine,
            .status = entry.status};
  return write_;
}

void Leader::written(bool held, Revision revision, TimePoint now) {
  check(busy_ && (phase_ == Phase::kClaim || phase_ == Phase::kRecord), "no write was ordered");
  busy_ = false;
  needed_ = revision;
  if (!held) {
    phase_ = Phase::kEnter;
    return;
  }
  if (write_.status) {
    stored_ = write_.status;
    status_at_ = revision;
  }
  if (write_.claim) claim_at_ = revision;
  if (phase_ == Phase::kRecord) {
    recorded_ = true;
    phase_ = Phase::kRest;
    return;
  }
  recorded_ = false;
  phase_ = Phase::kWait;
  next_at_ = wait_ ? now + timing_.reconcile_wait : now;
  retry_ = timing_.first_retry;
}

void Leader::unsure() {
  check(busy_, "no write was ordered");
  busy_ = false;
  // To claim anew is safe in any case: whatever came of the transaction, the conditions of the next
  // one find out.
  phase_ = Phase::kEnter;
}

void Leader::passed(TimePoint now) {
  check(busy_ && (phase_ == Phase::kPass || phase_ == Phase::kRest), "no pass was ordered");
  busy_ = false;
  next_at_ = now + timing_.pass_every;
  passed_at_ = now;
  retry_ = timing_.first_retry;
  phase_ = recorded_ && stored_ == done(own_) ? Phase::kRest : Phase::kRecord;
}

void Leader::disturbed(TimePoint now) {
  // Never the wait after a claim.
  const bool rests = phase_ == Phase::kRest || phase_ == Phase::kRecord;
  if (!rests || !passed_at_) return;
  next_at_ = std::min(next_at_, std::max(now, *passed_at_ + timing_.least_pause));
}

void Leader::failed(TimePoint now, double share) {
  check(busy_ && (phase_ == Phase::kPass || phase_ == Phase::kRest), "no pass was ordered");
  busy_ = false;
  passed_at_.reset();
  const Duration delay(
      static_cast<std::int64_t>(static_cast<double>(retry_.count()) * (0.5 + share)));
  // Of one that rests the next full pass is due by then.
  next_at_ = now + (phase_ == Phase::kRest ? std::min(delay, timing_.pass_every) : delay);
  retry_ = std::min(retry_ * 3 / 2, timing_.longest_retry);
}

}  // namespace wardmote::judge::version_gate
