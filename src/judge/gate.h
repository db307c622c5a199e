#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace wardmote::judge {

/// The rule of a gate for its checks, by their positions in the caller's list.
struct GateRule {
  struct Member {
    std::size_t check = 0;
    std::uint32_t weight = 1;  ///< at least 1
  };
  /// Enough of several: for example two of three, or a weight of four of 3 + 2 + 1.
  struct AtLeast {
    std::uint64_t count = 1;  ///< weight needed; from 1 to the sum of the weights
    std::vector<Member> of;
  };

  std::vector<std::size_t> all;
  std::optional<AtLeast> at_least;
};

/// The state of a check for a gate.
struct GateStanding {
  bool ready = false;  ///< judge::ready(), in which an optional check that was never good passes
  /// judge::ready() without that: only a check that was good counts towards a number
  bool proven = false;
  friend bool operator==(const GateStanding&, const GateStanding&) = default;
};

/// How far a gate is from passing; updated check by check, because a gate may have thousands.
struct GateTally {
  std::size_t failing = 0;   ///< the checks of `all` that are not ready
  std::uint64_t weight = 0;  ///< the weight of `at_least` that is proven

  friend bool operator==(const GateTally&, const GateTally&) = default;
};

/// The tally of a rule; `standing` gives the state of each check by its position.
template <class Standing>
GateTally tally(const GateRule& rule, Standing standing) {
  GateTally tally;
  for (const std::size_t check : rule.all) tally.failing += standing(check).ready ? 0 : 1;
  if (rule.at_least) {
    for (const GateRule::Member& member : rule.at_least->of)
      tally.weight += standing(member.check).proven ? member.weight : 0;
  }
  return tally;
}

inline bool passes(const GateRule& rule, const GateTally& tally) noexcept {
  return tally.failing == 0 && (!rule.at_least || tally.weight >= rule.at_least->count);
}

/// The checks that close the gate: those of `all` that are not ready and, if the weight is too low,
/// those of `at_least` that are not proven. Each once, in the order of the rule.
template <class Standing>
std::vector<std::size_t> failing(const GateRule& rule, Standing standing) {
  std::vector<std::size_t> found;
  const auto add = [&](std::size_t check) {
    for (const std::size_t earlier : found) {
      if (earlier == check) return;
    }
    found.push_back(check);
  };
  for (const std::size_t check : rule.all) {
    if (!standing(check).ready) found.push_back(check);
  }
  if (!rule.at_least || tally(rule, standing).weight >= rule.at_least->count) return found;
  for (const GateRule::Member& member : rule.at_least->of) {
    if (!standing(member.check).proven) add(member.check);
  }
  return found;
}

}  // namespace wardmote::judge
