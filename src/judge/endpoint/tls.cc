#include "judge/endpoint/tls.h"

#include <chrono>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

std::string days(Duration time) {
  return fmt::format("{} days", std::chrono::duration_cast<std::chrono::days>(time).count());
}

}  // namespace

Judgement judge_tls(const TlsFacts& facts, const TlsPolicy& policy) {
  if (!facts.certificate)
    return {Outcome::kFail, {ReasonCode::kUntrusted, "it shows no certificate"}};
  const std::string whose = fmt::format("certificate '{}'", facts.first_to_expire);
  if (facts.left <= Duration::zero()) {
    return {Outcome::kFail,
            {ReasonCode::kExpired,
             fmt::format("{} has run out on {}", whose, format_utc(facts.not_after))}};
  }
  if (policy.verify && !facts.trusted)
    return {Outcome::kFail, {ReasonCode::kUntrusted, facts.distrust}};
  if (facts.left > policy.warn_before) return {Outcome::kOk, {}};
  const Outcome soon = facts.left <= policy.fail_before ? Outcome::kFail : Outcome::kWarn;
  return {soon,
          {ReasonCode::kState, fmt::format("{} runs out in {}, on {}", whose, days(facts.left),
                                           format_utc(facts.not_after))}};
}

}  // namespace wardmote::judge
