#include "judge/host/process.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;

std::string described(const ProcessFacts& process) {
  return fmt::format("process {} ({})", process.pid, process.name);
}

}  // namespace

std::string_view stuck_words(char state) noexcept {
  switch (state) {
    case 'T':
    case 't': return "stopped (T)";
    case 'Z': return "a zombie (Z)";
    case 'X':
    case 'x': return "dead (X)";
    case 'D': return "waiting for the kernel (D)";
    default: return {};
  }
}

bool stuck_at_once(char state) noexcept {
  return state != 'D' && !stuck_words(state).empty();
}

Duration WaitingClock::feed(std::uint32_t pid, char state, TimePoint now) noexcept {
  if (pid != pid_ || state != 'D') since_.reset();
  pid_ = pid;
  if (state != 'D') return {};
  if (!since_) since_ = now;
  return now - *since_;
}

Judgement judge_processes(const ProcessListFacts& facts, const ProcessPolicy& policy,
                          Duration waiting) {
  if (facts.count == 0 && policy.least > 0)
    return {Outcome::kFail, {ReasonCode::kMissing, "no such process"}};
  if (facts.count < policy.least) {
    return {Outcome::kFail,
            {ReasonCode::kState, fmt::format("{} of at least {}", facts.count, policy.least)}};
  }
  if (policy.most && facts.count > *policy.most) {
    return {Outcome::kFail,
            {ReasonCode::kState, fmt::format("{} of at most {}", facts.count, *policy.most)}};
  }
  for (const ProcessFacts& process : facts.shown) {
    if (stuck_at_once(process.state)) {
      return {Outcome::kFail,
              {ReasonCode::kState,
               fmt::format("{} is {}", described(process), stuck_words(process.state))}};
    }
    if (process.state == 'D' && waiting > policy.longest_wait) {
      return {Outcome::kFail,
              {ReasonCode::kState, fmt::format("{} has been {} for {}", described(process),
                                               stuck_words('D'), format_duration(waiting))}};
    }
    if (policy.most_rss && process.rss && *process.rss > *policy.most_rss) {
      return {Outcome::kFail,
              {ReasonCode::kState, fmt::format("{} holds {} MiB, more than {}", described(process),
                                               *process.rss / kMebi, *policy.most_rss / kMebi)}};
    }
    if (process.age < policy.min_uptime) {
      return {Outcome::kUnknown,
              {ReasonCode::kState, fmt::format("{} is up for {} only", described(process),
                                               format_duration(process.age))}};
    }
  }
  return {};
}

}  // namespace wardmote::judge
