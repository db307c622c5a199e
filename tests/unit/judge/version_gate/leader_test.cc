// What a leader does and in which order (reference 1.3), and the scenarios of section 6.
#include "judge/version_gate/leader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Release kOld{.major = 1};
constexpr Release kNew{.major = 2};
constexpr Release kNewer{.major = 3};

class GateLeader : public ::testing::Test {
 protected:
  Product own{.release = kNew,
              .min_reconciler_release = kOld,
              .min_apiserver_release = kOld,
              .content = "c"};
  Facts facts;
  TimePoint now{seconds(1000)};
  std::optional<Leader> leader;

  void SetUp() override {
    nodes({{.node = "a", .release = kNew}}, 10);
    leader.emplace(own, Timing{});
  }

  void nodes(std::vector<Member> members, Revision revision) {
    facts.nodes.replace(std::move(members), revision);
    facts.read_at = std::max(facts.read_at, revision);
  }
  void status(Status::State state, Release version, Release minimum, Revision revision) {
    facts.stored = {.kind = Stored::Kind::kReadable,
                    .status = {.state = state, .version = version, .minimum = minimum},
                    .changed = revision};
    facts.read_at = std::max(facts.read_at, revision);
  }
  template <class Kind>
  std::optional<Kind> next() {
    const Leader::Step step = leader->next(facts, now);
    const auto* found = std::get_if<Kind>(&step);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  /// The store takes the transaction, and the leader reads it back.
  void take(const Write& write, Revision revision) {
    if (write.status)
      facts.stored = {
          .kind = Stored::Kind::kReadable, .status = *write.status, .changed = revision};
    if (write.claim) facts.claimed = revision;
    facts.read_at = revision;
    leader->written(true, revision, now);
  }
  /// The pass that it is in, and the next one.
  void fail_twice() {
    leader->failed(now, 0.5);
    EXPECT_EQ(next<Leader::Wait>()->until, now + milliseconds(100));
    now += milliseconds(100);
    ASSERT_TRUE(next<Leader::Pass>().has_value());
    leader->failed(now, 0.5);
    EXPECT_EQ(next<Leader::Wait>()->until, now + milliseconds(150));
  }
  /// From the claim to the pass.
  void claim(Revision revision) {
    const auto write = next<Write>();
    ASSERT_TRUE(write.has_value());
    take(*write, revision);
    now += seconds(5);
    ASSERT_TRUE(next<Leader::Pass>().has_value());
  }
};

TEST_F(GateLeader, ANewClusterHasNoStatusUntilAWholePass) {
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_TRUE(write->claim);
  EXPECT_FALSE(write->status.has_value());
  EXPECT_EQ(write->status_unchanged_since, 0);
  EXPECT_EQ(write->claim_unchanged_since, 0);
  EXPECT_FALSE(leader->may_write(facts)) << "not before the claim is known to be made";
  take(*write, 11);
  ASSERT_TRUE(next<Leader::Pass>().has_value()) << "nobody has written before: no wait";
  EXPECT_TRUE(leader->may_write(facts));
  leader->passed(now);
  const auto done = next<Write>();
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, (Status{.version = kNew, .minimum = kOld, .content = "c"}));
  EXPECT_FALSE(done->claim);
  take(*done, 12);
  EXPECT_EQ(next<Leader::Wait>()->until, now + seconds(30));
  now += seconds(30);
  EXPECT_TRUE(next<Leader::Pass>().has_value());
}

TEST_F(GateLeader, AnUpgradeSaysThatItWorksThenWaitsThenWrites) {
  status(Status::State::kDone, kOld, kOld, 8);
  facts.claimed = 7;
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_EQ(write->status_unchanged_since, 8);
  EXPECT_EQ(write->claim_unchanged_since, 7);
  EXPECT_FALSE(write->nodes_unchanged_since.has_value());
  EXPECT_EQ(write->status->state, Status::State::kWorking);
  EXPECT_EQ(write->status->version, kOld);
  take(*write, 11);
  EXPECT_EQ(next<Leader::Wait>()->until, now + seconds(5));
  EXPECT_FALSE(leader->may_write(facts));
  now += seconds(5);
  EXPECT_TRUE(next<Leader::Pass>().has_value());
}

/// A watch saw somebody change an object.
TEST_F(GateLeader, WhatIsDisturbedIsPutRightSoonButNotInAStorm) {
  leader->disturbed(now);
  take(*next<Write>(), 11);
  ASSERT_TRUE(next<Leader::Pass>());
  leader->passed(now);
  take(*next<Write>(), 12);
  now += seconds(10);
  EXPECT_TRUE(next<Leader::Wait>());
  leader->disturbed(now);
  ASSERT_TRUE(next<Leader::Pass>());
  leader->passed(now);
  leader->disturbed(now);
  EXPECT_EQ(next<Leader::Wait>()->until, now + Timing().least_pause);
  now += Timing().least_pause;
  ASSERT_TRUE(next<Leader::Pass>());
  leader->failed(now, 0.5);
  leader->disturbed(now);
  EXPECT_EQ(next<Leader::Wait>()->until, now + milliseconds(100))
      << "what is disturbed does not hasten what fails";
}

TEST_F(GateLeader, NothingThatIsDisturbedShortensTheWaitAfterAClaim) {
  take(*next<Write>(), 11);
  ASSERT_TRUE(next<Leader::Pass>());
  leader->passed(now);
  take(*next<Write>(), 12);
  // Somebody else claimed: everything begins anew.
  facts.claimed = 13;
  facts.read_at = 13;
  take(*next<Write>(), 14);
  leader->disturbed(now);
  EXPECT_EQ(next<Leader::Wait>()->until, now + seconds(5));
}

/// Scenario 3.
TEST_F(GateLeader, WritesNothingWhileAnOldNodeIsRegistered) {
  own.min_apiserver_release = kNew;
  leader.emplace(own, Timing{});
  status(Status::State::kDone, kOld, kOld, 8);
  nodes({{.node = "b", .release = kOld}}, 10);
  const auto blocked = next<Leader::Blocked>();
  ASSERT_TRUE(blocked.has_value());
  ASSERT_EQ(blocked->clearance.nodes.size(), 1);
  EXPECT_EQ(blocked->clearance.nodes[0].node, "b");
  nodes({{.node = "b", .release = kNew}}, 14);
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_EQ(write->nodes_unchanged_since, 14) << "in one transaction with the check";
  EXPECT_EQ(write->status,
            (Status{.state = Status::State::kWorking, .version = kOld, .minimum = kNew}));
}

TEST_F(GateLeader, AfterARefusalItReadsBeforeItTriesAgain) {
  own.min_apiserver_release = kNew;
  leader.emplace(own, Timing{});
  status(Status::State::kDone, kOld, kOld, 8);
  ASSERT_TRUE(next<Write>().has_value());
  EXPECT_TRUE(next<Leader::Busy>().has_value());
  leader->written(false, 15, now);
  EXPECT_TRUE(next<Leader::Read>().has_value());
  facts.read_at = 15;
  EXPECT_TRUE(next<Leader::Read>().has_value()) << "the nodes, too";
  nodes({{.node = "b", .release = kOld}}, 15);
  EXPECT_TRUE(next<Leader::Blocked>().has_value());
}

TEST_F(GateLeader, ATransactionOfUnknownOutcomeIsFoundOutByTheNextOne) {
  status(Status::State::kDone, kOld, kOld, 8);
  const auto first = next<Write>();
  leader->unsure();
  const auto second = next<Write>();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->status_unchanged_since, second->status_unchanged_since);
}

TEST_F(GateLeader, ANewerNodeEndsIt) {
  claim(11);
  EXPECT_TRUE(leader->may_write(facts));
  nodes({{.node = "c", .release = kNewer}}, 12);
  EXPECT_FALSE(leader->may_write(facts));
  EXPECT_TRUE(next<Leader::StandDown>().has_value());
}

/// Scenario 25; and the same of a claim, which only another leader writes.
TEST_F(GateLeader, WhenTheStatusChangesBehindItsBackItBeginsAnew) {
  claim(11);
  leader->passed(now);
  take(*next<Write>(), 12);
  EXPECT_TRUE(leader->may_write(facts));
  facts.stored = {};
  facts.read_at = 13;
  EXPECT_FALSE(leader->may_write(facts));
  EXPECT_TRUE(next<Leader::Read>().has_value()) << "the nodes, since these must be checked";
  nodes({{.node = "a", .release = kNew}}, 13);
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_EQ(leader->which(), Case::kLost);
  EXPECT_TRUE(write->nodes_unchanged_since.has_value());
  take(*write, 14);
  EXPECT_TRUE(next<Leader::Wait>().has_value());
}

TEST_F(GateLeader, WhatWasReadBeforeItsOwnWriteIsTooOld) {
  status(Status::State::kDone, kOld, kOld, 8);
  ASSERT_TRUE(next<Write>().has_value());
  leader->written(true, 11, now);
  EXPECT_TRUE(next<Leader::Read>().has_value());
}

TEST_F(GateLeader, AFailedPassIsTriedAgainEverMoreSlowly) {
  claim(11);
  fail_twice();
  for (int i = 0; i < 40; ++i) {
    now += seconds(90);
    ASSERT_TRUE(next<Leader::Pass>().has_value());
    leader->failed(now, 0.99);
    const Duration wait = next<Leader::Wait>()->until - now;
    EXPECT_LE(wait, seconds(90));
    if (i > 20) EXPECT_GE(wait, seconds(60));
  }
}

/// It waited for the time of the next full pass, which may be a day away.
TEST_F(GateLeader, WhatFailsWhileItRestsIsTriedAgainEverMoreSlowlyToo) {
  leader.emplace(own, Timing{.pass_every = seconds(600)});
  claim(11);
  leader->passed(now);
  take(*next<Write>(), 12);
  for (int round = 0; round < 2; ++round) {
    now += seconds(600);
    ASSERT_TRUE(next<Leader::Pass>().has_value());
    fail_twice();
    now += milliseconds(150);
    ASSERT_TRUE(next<Leader::Pass>().has_value());
    leader->passed(now);
    EXPECT_EQ(next<Leader::Wait>()->until, now + seconds(600));
  }
  leader.emplace(own, Timing{.pass_every = seconds(10)});
  facts.stored = {};
  facts.claimed = 0;
  claim(14);
  leader->passed(now);
  take(*next<Write>(), 15);
  for (int i = 0; i < 40; ++i) {
    now += seconds(10);
    ASSERT_TRUE(next<Leader::Pass>().has_value()) << "never later than the next full pass";
    leader->failed(now, 0.99);
  }
}

/// Reference 1.7.2: one fenced transaction before the first write, also where nothing is to be put.
TEST_F(GateLeader, AlsoTheSameStatusIsClaimedFirst) {
  facts.stored = {.kind = Stored::Kind::kReadable, .status = done(own), .changed = 8};
  facts.claimed = 7;
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_TRUE(write->claim);
  EXPECT_FALSE(write->status.has_value());
  take(*write, 11);
  now += seconds(5);
  ASSERT_TRUE(next<Leader::Pass>().has_value());
  leader->passed(now);
  const auto again = next<Write>();
  ASSERT_TRUE(again.has_value()) << "nodes that remember another history wait for it";
  EXPECT_EQ(again->status, done(own));
  EXPECT_FALSE(again->claim);
  take(*again, 12);
  now += seconds(30);
  ASSERT_TRUE(next<Leader::Pass>().has_value());
  leader->passed(now);
  EXPECT_TRUE(next<Leader::Wait>().has_value()) << "once";
}

TEST_F(GateLeader, AStatusThatNobodyCanReadIsKeptAside) {
  facts.stored = {.kind = Stored::Kind::kUnreadable, .why = "cut off", .changed = 8};
  const auto write = next<Write>();
  ASSERT_TRUE(write.has_value());
  EXPECT_TRUE(write->quarantine);
  EXPECT_FALSE(write->status.has_value());
  take(*write, 11);
  now += seconds(5);
  ASSERT_TRUE(next<Leader::Pass>().has_value());
  leader->passed(now);
  const auto done = next<Write>();
  ASSERT_TRUE(done.has_value());
  EXPECT_FALSE(done->quarantine);
  EXPECT_TRUE(done->status.has_value());
}

}  // namespace
}  // namespace wardmote::judge::version_gate
