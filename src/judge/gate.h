#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace wardmote::judge {

/// What a gate demands of its checks, by their positions in the list that the caller keeps.
struct GateRule {
  struct Member {
    std::size_t check = 0;
    std::uint32_t weight = 1;  ///< at least 1
  };
  /// Enough of several: two of three, or a weight of four of 3 + 2 + 1.
  struct AtLeast {
    std::uint64_t count = 1;  ///< of weights; from 1 to their sum
    std::vector<Member> of;
  };

  std::vector<std::size_t> all;
  std::optional<AtLeast> at_least;
};

/// How a check stands towards a gate.
struct GateStanding {
  bool ready = false;   ///< judge::ready(), where an optional check that was never seen passes
  bool proven = false;  ///< judge::ready() without that: only what was seen counts towards a number
  friend bool operator==(const GateStanding&, const GateStanding&) = default;
};

/// How far a gate is from passing; kept up to date check by check, since a gate may have thousands.
struct GateTally {
  std::size_t failing = 0;   ///< of `all`
  std::uint64_t weight = 0;  ///< of those of `at_least` that are proven

  friend bool operator==(const GateTally&, const GateTally&) = default;
};

/// The tally of a rule from the standing of each of its checks, which `standing` gives by position.
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

/// The checks that hold it back: those of `all` that are not ready and, where there are too few,
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
