#include "judge/service/ovn_daemons.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

/// One loss is a restart of the database; a rolling restart of three members may be three.
constexpr std::size_t kManyLosses = 4;
constexpr std::size_t kMostLosses = 64;

Judgement bad(std::string text) {
  return {Outcome::kFail, {ReasonCode::kState, std::move(text)}};
}
Judgement warn(std::string text) {
  return {Outcome::kWarn, {ReasonCode::kState, std::move(text)}};
}

}  // namespace

std::string_view to_string(NorthdState state) noexcept {
  switch (state) {
    case NorthdState::kUnknown: return "unknown";
    case NorthdState::kActive: return "active";
    case NorthdState::kStandby: return "standby";
    case NorthdState::kPaused: return "paused";
  }
  return "unknown";
}

Judgement judge_northd(const NorthdFacts& facts, const NorthdPolicy& policy) {
  const bool northbound = facts.northbound.value_or(true);
  const bool southbound = facts.southbound.value_or(true);
  if (!northbound || !southbound) {
    std::string_view which = northbound ? "southbound database" : "northbound database";
    if (!northbound && !southbound) which = "northbound and the southbound database";
    return bad(fmt::format("{}: not connected to the {}", to_string(facts.state), which));
  }
  if (facts.state == NorthdState::kPaused)
    return warn("paused: it translates nothing until 'ovn-appctl -t ovn-northd resume'");
  if (policy.active && facts.state != NorthdState::kActive)
    return bad(fmt::format("{}, and it should be active", to_string(facts.state)));
  return {Outcome::kOk, {ReasonCode::kNone, std::string(to_string(facts.state))}};
}

std::size_t LossCounter::feed(bool connected, TimePoint now) {
  std::erase_if(losses_, [&](TimePoint at) { return now - at > kWindow; });
  if (std::exchange(connected_, connected) && !connected && losses_.size() < kMostLosses)
    losses_.push_back(now);
  return losses_.size();
}

Judgement judge_controller(const ControllerFacts& facts) {
  if (facts.paused)
    return bad("paused: it programs nothing until 'ovn-appctl -t ovn-controller debug/resume'");
  if (!facts.connected) {
    std::string text = "not connected to the southbound database";
    if (facts.southbound && facts.southbound->serves)
      text +=
          ", which serves others: this host does not follow it. If the log of ovn-controller says "
          "'stale data', the database was rebuilt: 'ovn-appctl -t ovn-controller "
          "sb-cluster-state-reset'";
    return bad(std::move(text));
  }
  if (facts.losses >= kManyLosses) {
    return bad(fmt::format("lost the southbound database {} times in {}", facts.losses,
                           format_duration(LossCounter::kWindow)));
  }
  return {};
}

Duration BehindClock::feed(std::int64_t next, std::int64_t current, TimePoint now) noexcept {
  const bool same = std::exchange(current_, current) == current;
  if (current >= next) {
    since_.reset();
    return Duration::zero();
  }
  if (!since_ || !same) since_ = now;
  return now - *since_;
}

Judgement judge_vswitchd(const VswitchdFacts& facts, const VswitchdPolicy& policy,
                         Duration waiting) {
  ProcessListFacts process;
  process.count = 1;
  process.shown = {facts.process};
  Judgement judged = judge_processes(process, {}, waiting);
  if (judged.outcome != Outcome::kOk) return judged;
  if (facts.next_cfg && facts.cur_cfg && *facts.cur_cfg < *facts.next_cfg &&
      facts.behind >= policy.longest_behind) {
    return bad(fmt::format("the configuration is at {}, and {} has been in force for {}",
                           *facts.next_cfg, *facts.cur_cfg, format_duration(facts.behind)));
  }
  if (facts.faulty == 0) return {};
  return warn(fmt::format("{} {} an error: {}", facts.faulty,
                          facts.faulty == 1 ? "interface has" : "interfaces have",
                          facts.errors.empty() ? std::string() : facts.errors.front()));
}

}  // namespace wardmote::judge
