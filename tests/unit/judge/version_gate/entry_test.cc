// The four cases of Metropolis's lead(), the scenarios of its TestService, and what it gets wrong.
#include "judge/version_gate/entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

using State = Status::State;

constexpr Release kHuge{.major = 10000};
constexpr Release kOwn{.major = 0, .minor = 2, .patch = 0};
constexpr Release kNeeded{.major = 0, .minor = 1, .patch = 0};
constexpr Release kOld{.major = 0, .minor = 0, .patch = 2};
const Product kProduct{.release = kOwn,
                       .min_reconciler_release = kNeeded,
                       .min_apiserver_release = kNeeded,
                       .content = "c1"};

Stored stored(State state, Release version, Release minimum, std::string content = "") {
  return {.kind = Stored::Kind::kReadable,
          .status = {.state = state,
                     .version = version,
                     .minimum = minimum,
                     .content = std::move(content)},
          .changed = 7};
}

Membership nodes(std::vector<Member> members) {
  Membership found;
  found.replace(std::move(members), 9);
  return found;
}

TEST(GateEntry, AFirstLeaderWritesNoStatusBeforeItIsDone) {
  const Entry entry = enter({}, kProduct, /*acted=*/false);
  EXPECT_EQ(entry.which, Case::kFirst);
  EXPECT_FALSE(entry.wait);
  EXPECT_FALSE(entry.status.has_value());
}

TEST(GateEntry, TheSameStatusIsNotWrittenAgain) {
  const Entry entry = enter(stored(State::kDone, kOwn, kNeeded, "c1"), kProduct, true);
  EXPECT_EQ(entry.which, Case::kSame);
  EXPECT_TRUE(entry.wait);
  EXPECT_FALSE(entry.check_nodes);
  EXPECT_FALSE(entry.status.has_value());
}

/// Reference 1.7.15: another build that writes the same objects is the same; one that does not is
/// not.
TEST(GateEntry, ABuildWithOtherObjectsIsNotTheSame) {
  EXPECT_EQ(enter(stored(State::kDone, kOwn, kNeeded, "c2"), kProduct, true).which,
            Case::kCompatible);
  EXPECT_EQ(enter(stored(State::kDone, kOwn, kNeeded), kProduct, true).which, Case::kCompatible);
}

TEST(GateEntry, AnUpgradeKeepsVersionAndMinimumWhileItWorks) {
  const Entry entry = enter(stored(State::kDone, kNeeded, kNeeded, "old"), kProduct, true);
  EXPECT_EQ(entry.which, Case::kCompatible);
  EXPECT_TRUE(entry.wait);
  EXPECT_FALSE(entry.check_nodes);
  EXPECT_EQ(entry.status, stored(State::kWorking, kNeeded, kNeeded, "old").status);
}

TEST(GateEntry, AnUpgradeThatIsUnderWayIsNotWrittenAgain) {
  const Entry entry = enter(stored(State::kWorking, kNeeded, kNeeded), kProduct, true);
  EXPECT_EQ(entry.which, Case::kCompatible);
  EXPECT_FALSE(entry.status.has_value());
}

/// TestService 4 and 5: a status that already keeps an old node out lets its leader pass.
TEST(GateEntry, AMinimumAboveOurOwnIsCompatible) {
  EXPECT_EQ(enter(stored(State::kDone, kOld, kHuge), kProduct, true).which, Case::kCompatible);
}

TEST(GateEntry, ADowngradeRestricts) {
  const Entry entry = enter(stored(State::kDone, kHuge, kNeeded), kProduct, true);
  EXPECT_EQ(entry.which, Case::kRestrict);
  EXPECT_TRUE(entry.check_nodes);
  EXPECT_TRUE(entry.wait);
  EXPECT_EQ(entry.status, stored(State::kWorking, kOwn, kNeeded).status);
}

TEST(GateEntry, ObjectsThatNeedNewerNodesRestrict) {
  const Entry entry = enter(stored(State::kDone, kOld, kOld), kProduct, true);
  EXPECT_EQ(entry.which, Case::kRestrict);
  EXPECT_EQ(entry.status, stored(State::kWorking, kOld, kNeeded).status);
}

/// Scenario 6: a half upgrade is rolled back; what holds is the intersection of all.
TEST(GateEntry, ARolledBackUpgradeIntersects) {
  EXPECT_EQ(intersection(stored(State::kWorking, kHuge, kHuge).status, kProduct),
            stored(State::kWorking, kOwn, kHuge).status);
  EXPECT_EQ(intersection(stored(State::kWorking, kOld, kOld).status, kProduct),
            stored(State::kWorking, kOld, kNeeded).status);
}

/// Reference 1.7.6: Metropolis takes a status that it cannot read for an absent one.
TEST(GateEntry, AStatusThatNobodyCanReadTakesTheStrictestWay) {
  const Stored corrupt{.kind = Stored::Kind::kUnreadable, .why = "cut off", .changed = 7};
  for (const bool acted : {false, true}) {
    const Entry entry = enter(corrupt, kProduct, acted);
    EXPECT_EQ(entry.which, Case::kLost);
    EXPECT_TRUE(entry.check_nodes);
    EXPECT_TRUE(entry.wait);
    EXPECT_TRUE(entry.quarantine);
    EXPECT_FALSE(entry.status.has_value()) << "nobody passes before a whole pass";
  }
}

TEST(GateEntry, AStatusThatWasRemovedIsNoFreshStart) {
  const Entry entry = enter({}, kProduct, /*acted=*/true);
  EXPECT_EQ(entry.which, Case::kLost);
  EXPECT_TRUE(entry.check_nodes);
  EXPECT_TRUE(entry.wait);
  EXPECT_FALSE(entry.quarantine);
}

TEST(GateClearance, EveryNodeMustWorkWithWhatIsToBeWritten) {
  using Verdict = Clearance::Verdict;
  EXPECT_EQ(clear({}, kProduct).verdict, Verdict::kUnread);
  EXPECT_EQ(clear(nodes({}), kProduct).verdict, Verdict::kClear);
  EXPECT_EQ(describe(clear(nodes({}), kProduct), kProduct), "no node is in the way");
  EXPECT_EQ(
      clear(nodes({{.node = "a", .release = kNeeded}, {.node = "b", .release = kOwn}}), kProduct)
          .verdict,
      Verdict::kClear);
  const Clearance older =
      clear(nodes({{.node = "a", .release = kOld}, {.node = "b", .release = kOwn}}), kProduct);
  EXPECT_EQ(older.verdict, Verdict::kOlder);
  EXPECT_EQ(describe(older, kProduct), "waits for a (0.0.2), which must be 0.1.0 or newer");
  EXPECT_EQ(clear(nodes({{.node = "a", .release = kHuge}}), kProduct).verdict, Verdict::kNewer);
}

/// Scenario 26: a record that nobody can read blocks; one without a release is 0.0.0.
TEST(GateClearance, ANodeOfUnknownReleaseBlocks) {
  const Clearance unknown =
      clear(nodes({{.node = "a", .release = {}, .why = "its record is cut off"}}), kProduct);
  EXPECT_EQ(unknown.verdict, Clearance::Verdict::kUnknown);
  EXPECT_EQ(describe(unknown, kProduct), "waits for a (its record is cut off), of unknown release");
  EXPECT_EQ(clear(nodes({{.node = "a", .release = Release()}}), kProduct).verdict,
            Clearance::Verdict::kOlder);
}

/// MinimumReleasesNotAbove…
TEST(GateProduct, AsksForNothingNewerThanItself) {
  EXPECT_TRUE(check_sense(kProduct).has_value());
  Product product = kProduct;
  product.min_apiserver_release = kHuge;
  EXPECT_FALSE(check_sense(product).has_value());
  product = kProduct;
  product.min_reconciler_release = kHuge;
  EXPECT_FALSE(check_sense(product).has_value());
  product.release = kHuge;
  EXPECT_TRUE(check_sense(product).has_value());
}

}  // namespace
}  // namespace wardmote::judge::version_gate
