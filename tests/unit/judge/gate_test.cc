#include "judge/gate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace wardmote::judge {
namespace {

constexpr GateStanding kGood{true, true};
constexpr GateStanding kBad{false, false};
/// Optional, and never seen.
constexpr GateStanding kUnseen{true, false};

struct Seen {
  bool passes;
  std::vector<std::size_t> failing;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen see(const GateRule& rule, const std::vector<GateStanding>& standings) {
  const auto standing = [&](std::size_t check) { return standings.at(check); };
  return {passes(rule, tally(rule, standing)), failing(rule, standing)};
}

TEST(Gate, AllMustBeReady) {
  const GateRule rule{.all = {0, 1}};
  EXPECT_EQ(see(rule, {kGood, kUnseen}), (Seen{true, {}}));
  EXPECT_EQ(see(rule, {kGood, kBad}), (Seen{false, {1}}));
}

TEST(Gate, TwoOfThree) {
  const GateRule rule{.at_least = GateRule::AtLeast{2, {{0}, {1}, {2}}}};
  EXPECT_EQ(see(rule, {kGood, kBad, kGood}), (Seen{true, {}}));
  EXPECT_EQ(see(rule, {kGood, kBad, kBad}), (Seen{false, {1, 2}}));
  EXPECT_EQ(see(rule, {kGood, kUnseen, kUnseen}), (Seen{false, {1, 2}}))
      << "what was never seen is no proof, optional or not";
}

TEST(Gate, Weights) {
  const GateRule rule{.at_least = GateRule::AtLeast{4, {{0, 3}, {1, 2}, {2, 1}}}};
  EXPECT_TRUE(see(rule, {kGood, kBad, kGood}).passes);
  EXPECT_FALSE(see(rule, {kBad, kGood, kGood}).passes);
}

TEST(Gate, Both) {
  const GateRule rule{.all = {0}, .at_least = GateRule::AtLeast{1, {{0}, {1}}}};
  EXPECT_EQ(see(rule, {kBad, kGood}), (Seen{false, {0}}));
  EXPECT_EQ(see(rule, {kBad, kBad}), (Seen{false, {0, 1}})) << "each is named once";
}

RC_GTEST_PROP(Gate, ACheckThatGetsWorseOpensNoGate, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 8);
  GateRule rule;
  GateRule::AtLeast least{*rc::gen::inRange<std::uint64_t>(1, 10), {}};
  std::vector<GateStanding> standings;
  for (std::size_t i = 0; i < size; ++i) {
    if (*rc::gen::arbitrary<bool>()) rule.all.push_back(i);
    least.of.push_back({i, *rc::gen::inRange<std::uint32_t>(1, 4)});
    standings.push_back(*rc::gen::element(kGood, kBad, kUnseen));
  }
  if (*rc::gen::arbitrary<bool>()) rule.at_least = least;
  const Seen before = see(rule, standings);
  standings[*rc::gen::inRange<std::size_t>(0, size)] = kBad;
  const Seen after = see(rule, standings);
  RC_ASSERT(before.passes || !after.passes);
  RC_ASSERT(after.passes == after.failing.empty());
}

}  // namespace
}  // namespace wardmote::judge
