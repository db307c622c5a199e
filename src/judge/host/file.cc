#include "judge/host/file.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

/// How much the clocks of a machine and its file server may differ without a remark.
constexpr Duration kClockSlack = std::chrono::seconds(5);

Judgement bad(std::string text) {
  return {Outcome::kFail, {ReasonCode::kState, std::move(text)}};
}

}  // namespace

Judgement judge_file(const FileFacts& facts, const FilePolicy& policy) {
  if (policy.absent) return facts.exists ? bad("it exists") : Judgement{};
  if (!facts.exists) return {Outcome::kFail, {ReasonCode::kMissing, "no such file"}};
  if (policy.min_size && facts.size < *policy.min_size)
    return bad(fmt::format("{} bytes, fewer than {}", facts.size, *policy.min_size));
  if (policy.max_size && facts.size > *policy.max_size)
    return bad(fmt::format("{} bytes, more than {}", facts.size, *policy.max_size));
  if (!policy.max_age) return {};
  if (facts.age > *policy.max_age) {
    return bad(fmt::format("modified {} ago, more than {}", format_duration(facts.age),
                           format_duration(*policy.max_age)));
  }
  // The age means nothing: the clock was set, or the file comes from another machine.
  if (facts.age < -kClockSlack) {
    return {Outcome::kUnknown,
            {ReasonCode::kState,
             fmt::format("modified {} in the future", format_duration(-facts.age))}};
  }
  return {};
}

}  // namespace wardmote::judge
