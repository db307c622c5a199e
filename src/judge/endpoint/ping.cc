#include "judge/endpoint/ping.h"

#include <cstddef>
#include <optional>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {

Judgement judge_ping(const PingFacts& facts, const PingPolicy& policy) {
  const std::size_t lost = facts.sent - facts.received;
  if (facts.received == 0) {
    return {Outcome::kFail,
            {ReasonCode::kUnreachable,
             fmt::format("{}: no answer to {} requests", facts.address, facts.sent)}};
  }
  const auto slower_than = [&](const std::optional<Duration>& limit) {
    return limit && facts.mean && *facts.mean > *limit;
  };
  if (slower_than(policy.fail_mean) || slower_than(policy.warn_mean)) {
    return {slower_than(policy.fail_mean) ? Outcome::kFail : Outcome::kWarn,
            {ReasonCode::kState, fmt::format("{}: answers take {} on average", facts.address,
                                             format_duration(*facts.mean))}};
  }
  if (lost >= policy.warn_lost && policy.warn_lost > 0) {
    return {Outcome::kWarn,
            {ReasonCode::kState, fmt::format("{}: {} of {} requests without an answer",
                                             facts.address, lost, facts.sent)}};
  }
  return {};
}

}  // namespace wardmote::judge
