#include "act/gate/gate_leader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "act/gate/records.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/status.h"
#include "store/clock_pair.h"
#include "store/plan_record.h"
#include "store/store.h"
#include "unit/act/gate_fixture.h"

namespace wardmote::act::gate {
namespace {

using Verdict = judge::version_gate::Admission::Verdict;
using State = Status::State;
using namespace std::chrono_literals;

class GateLeaderTest : public GateTest {
 protected:
  [[nodiscard]] store::KeyRange queue() const {
    return store::KeyRange::prefix(kLayout.election() + "/");
  }
};

TEST_F(GateLeaderTest, OneNodeReconcilesAndServes) {
  const auto a = make("a", product(1, 1));
  ASSERT_TRUE(until([&] { return a->ready(); })) << a->why();
  EXPECT_EQ(objects.written, std::vector<std::string>{"a 1.0.0"});
  EXPECT_EQ(status(), (Status{.version = {.major = 1}, .minimum = {.major = 1}}));
  EXPECT_TRUE(until([&] {
    const auto progress = a->node.report().progress;
    return progress && progress->step == "resting";
  }));
}

TEST_F(GateLeaderTest, ThePassesGoOnAndWriteNoStatus) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  const auto before = read(kLayout.status())->version;
  world.run_for(2min);
  EXPECT_GE(objects.written.size(), 4U);
  EXPECT_EQ(read(kLayout.status())->version, before);
}

TEST_F(GateLeaderTest, ASuccessorThatHasNothingToRecordSaysThatItRests) {
  auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  const auto b = make("b", product(1));
  ASSERT_TRUE(until([&] { return b->ready(); }));
  a.reset();
  ASSERT_TRUE(until([&] { return b->leader.leads(); }));
  EXPECT_TRUE(until(
      [&] {
        const auto progress = b->node.report().progress;
        return progress && progress->node == "b" && progress->step == "resting";
      },
      20s));
  const auto said = read(kLayout.progress())->version;
  world.run_for(2min);
  EXPECT_EQ(read(kLayout.progress())->version, said) << "a pass that goes well is no news";
}

// It said that all is as it should be for as long as a server did not answer.
TEST_F(GateLeaderTest, ALeaderWhosePassHangsDoesNotSayThatItRests) {
  const auto a = make("a", product(1));
  const auto step = [&] {
    const auto progress = a->node.report().progress;
    return progress ? progress->step : "";
  };
  ASSERT_TRUE(until([&] { return step() == "resting"; }));
  objects.takes = 90s;
  EXPECT_TRUE(until([&] { return step() == "passing"; }, 60s));
  objects.takes = {};
  EXPECT_TRUE(until([&] { return step() == "resting"; }, 90s));
}

TEST_F(GateLeaderTest, AnOlderReleaseNeverLeadsBesideANewerOne) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->leader.leads(); }));
  const auto b = make("b", product(2));
  ASSERT_TRUE(until([&] { return b->leader.leads(); }, 10s));
  EXPECT_FALSE(a->leader.leads());
  world.run_for(1min);
  EXPECT_EQ(objects.written.back(), "b 2.0.0");
  EXPECT_EQ(objects.most_at_once, 1);
  b->stop();
  world.run_for(1min);
  EXPECT_FALSE(a->leader.leads()) << "the newer one is registered still";
  EXPECT_EQ(objects.written.back(), "b 2.0.0");
}

TEST_F(GateLeaderTest, ObjectsThatNeedNewerNodesWaitForTheLastOldOne) {
  const auto old = make("old", product(1));
  ASSERT_TRUE(until([&] { return old->ready(); }));
  const auto b = make("b", product(2, 2));
  ASSERT_TRUE(until([&] { return b->leader.leads(); }, 10s));
  world.run_for(1min);
  EXPECT_EQ(objects.written.back(), "old 1.0.0") << "nothing was written by the new one";
  const auto report = old->node.report();
  ASSERT_TRUE(report.progress) << "the old one knows why, too";
  EXPECT_EQ(report.progress->step, "blocked");
  EXPECT_EQ(report.progress->nodes, std::vector<std::string>{"old"});
  EXPECT_TRUE(old->ready()) << "it serves for as long";
  old->stop();
  write(store::Erase{store::KeyRange::one("gate/nodes/old")});
  ASSERT_TRUE(until([&] { return objects.written.back() == "b 2.0.0"; }));
  ASSERT_TRUE(until([&] { return b->ready(); }));
  EXPECT_EQ(status().minimum, (Release{.major = 2}));
  const auto again = make("old", product(1), false, "old again");
  world.run_for(10s);
  EXPECT_EQ(again->node.admission().verdict, Verdict::kNodeTooOld);
}

/// Either the leader sees the node, or the node sees what the leader wrote.
TEST_F(GateLeaderTest, ANodeThatRegistersBetweenTheCheckAndTheClaimIsSeen) {
  const auto b = make("b", product(2, 2));
  b->store.before =
      store::Put{"gate/nodes/old", write_node({.node = "old", .boot = "x"}, {.major = 1}, "")};
  world.run_for(1min);
  EXPECT_FALSE(b->store.before) << "it came to a claim";
  EXPECT_TRUE(objects.written.empty());
  EXPECT_FALSE(read(kLayout.claim()));
  ASSERT_TRUE(b->node.report().progress);
  EXPECT_EQ(b->node.report().progress->nodes, std::vector<std::string>{"old"});
}

TEST_F(GateLeaderTest, AClaimThatComesAfterTheElectionWasLostChangesNothing) {
  const auto a = make("a", product(1));
  a->store.before = store::Erase{queue()};
  ASSERT_TRUE(until([&] { return a->ready(); }, 1min));
  EXPECT_FALSE(a->store.before);
  EXPECT_EQ(read(kLayout.claim())->version, 1) << "only that of the second time";
}

TEST_F(GateLeaderTest, AStatusThatChangesBeforeTheClaimIsReadAgain) {
  write(store::Put{kLayout.status(),
                   write_status({.version = {.major = 2}, .minimum = {.major = 1}}, "")});
  const auto a = make("a", product(1));
  a->store.before = store::Put{
      kLayout.status(), write_status({.version = {.major = 3}, .minimum = {.major = 2}}, "")};
  objects.takes = 1h;
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 1min));
  EXPECT_EQ(status(),
            (Status{.state = State::kWorking, .version = {.major = 1}, .minimum = {.major = 2}}))
      << "the gate is closed to what the other has closed it to";
}

TEST_F(GateLeaderTest, ADowngradeClosesTheGateBeforeItWrites) {
  {
    const auto b = make("b", product(2, 2));
    ASSERT_TRUE(until([&] { return b->ready(); }));
  }
  const auto b = make("b", product(1), true, "b again");
  objects.takes = 20s;
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  EXPECT_EQ(status(),
            (Status{.state = State::kWorking, .version = {.major = 1}, .minimum = {.major = 2}}));
  ASSERT_TRUE(until([&] { return b->ready(); }, 1min));
  EXPECT_EQ(status(), (Status{.version = {.major = 1}}));
}

TEST_F(GateLeaderTest, ANodeWhoseReleaseNobodyCanReadBlocks) {
  write(store::Put{"gate/nodes/x", "\xff"});
  const auto a = make("a", product(1, 1));
  world.run_for(1min);
  EXPECT_TRUE(objects.written.empty());
  EXPECT_FALSE(a->ready());
  EXPECT_EQ(a->node.clearance().verdict, judge::version_gate::Clearance::Verdict::kUnknown);
  write(store::Erase{store::KeyRange::one("gate/nodes/x")});
  EXPECT_TRUE(until([&] { return a->ready(); })) << a->why();
}

TEST_F(GateLeaderTest, AStatusThatNobodyCanReadIsKeptAsideAndClosesTheGate) {
  write(store::Put{kLayout.status(), "\xff"});
  const auto changed = read(kLayout.status())->mod_revision;
  objects.fails = true;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return read(kLayout.quarantine(changed)).has_value(); }));
  EXPECT_EQ(read(kLayout.quarantine(changed))->value, "\xff");
  world.run_for(30s);
  EXPECT_EQ(a->node.admission().verdict, Verdict::kUnreadable);
  EXPECT_EQ(a->node.report().progress->step, "failing");
  objects.fails = false;
  EXPECT_TRUE(until([&] { return a->ready(); }, 2min)) << a->why();
}

TEST_F(GateLeaderTest, WhoIsPausedHasStoppedBeforeTheNextBegins) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  const auto b = make("b", product(1));
  world.run_for(2s);
  a->store.hangs = true;  // it runs, and hears nothing
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, kTtl));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 20s));
  EXPECT_TRUE(b->leader.leads());
  EXPECT_EQ(objects.most_at_once, 1);
  ASSERT_FALSE(b->reconciler.tokens.empty());
  EXPECT_GT(b->reconciler.tokens.back(), a->reconciler.tokens.back());
}

/// SIGSTOP, or a machine that was suspended: the write that was about to be sent comes before the
/// timer that says that the lease is over.
TEST_F(GateLeaderTest, WhoWasStoppedMayNotWriteBeforeItsTimersHaveRun) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  const auto until_when = a->reconciler.write_until();
  ASSERT_TRUE(until_when);
  EXPECT_GT(*until_when, a->us.now());
  EXPECT_LE(*until_when, a->us.now() + kTtl * 2 / 3);
  a->us.pause();
  world.run_for(kTtl * 2 / 3);
  EXPECT_EQ(objects.under_way, 1);
  EXPECT_FALSE(a->reconciler.write_until());
  a->us.resume();
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, 1s));
}

TEST_F(GateLeaderTest, WhileItRenewsItsLeaseItMayWriteAsLongAsItLikes) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  for (int seconds = 0; seconds < 60; ++seconds) {
    world.run_for(1s);
    ASSERT_TRUE(a->reconciler.write_until());
  }
  write(store::Put{"pause/all", "who cannot be read"});
  world.run_for(100ms);
  EXPECT_TRUE(objects.under_way == 1) << "another key";
}

/// The leader waits for an answer of the store when its pass has just begun.
TEST_F(GateLeaderTest, APassEndsAtOnceAlsoWhileAnAnswerIsAwaited) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  a->store.hangs_progress = true;
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  write(store::Erase{queue()});
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, 500ms));
}

TEST_F(GateLeaderTest, NoPassBeginsOnARightThatWasLostWhileAnAnswerWasAwaited) {
  objects.takes = 100ms;
  objects.fails = true;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  a->store.hangs_progress = true;
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }));
  write(store::Erase{queue()});
  const std::size_t before = a->reconciler.tokens.size();
  ASSERT_TRUE(until([&] { return a->reconciler.tokens.size() > before; }, 1min));
  EXPECT_NE(a->reconciler.tokens[before], a->reconciler.tokens[before - 1]);
}

TEST_F(GateLeaderTest, WhoseKeyIsTakenAwayEndsItsPass) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  write(store::Erase{queue()});
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, 100ms));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 20s)) << "it stands again";
  EXPECT_EQ(a->reconciler.tokens.size(), 2U);
}

TEST_F(GateLeaderTest, ANewerNodeThatIsThereForAMomentCostsTheLeadOnceAtMost) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  write(store::Put{"gate/nodes/n", write_node({.node = "n", .boot = "x"}, {.major = 2}, "")});
  world.run_for(200ms);
  write(store::Erase{store::KeyRange::one("gate/nodes/n")});
  ASSERT_TRUE(until([&] { return a->leader.leads() && a->ready(); }, 10s));
  world.run_for(2min);
  const std::vector<store::Revision>& tokens = a->reconciler.tokens;
  EXPECT_LE(std::set<store::Revision>(tokens.begin(), tokens.end()).size(), 2U);
}

/// Who sets the clock of a host, whichever way, changes nobody's lease and delays no pass.
TEST_F(GateLeaderTest, AWallClockThatJumpsCostsNoLeadAndDelaysNobody) {
  int not_ready = 0;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  const auto b = make("b", product(1));
  ASSERT_TRUE(until([&] { return b->ready(); }));
  constexpr Duration kYears = 24h * 3650;
  a->node.listen([&] { not_ready += a->ready() ? 0 : 1; });
  for (TestNode* const whose : {a.get(), b.get()}) {
    for (const Duration by : {Duration(1h), Duration(-1h), kYears, -kYears}) {
      const std::size_t before = objects.written.size();
      whose->us.jump_wall_clock(by);
      world.run_for(kTtl);
      EXPECT_TRUE(a->leader.leads() && !b->leader.leads());
      world.run_for(65s);
      EXPECT_GE(objects.written.size(), before + 2) << "a pass each 30 s";
    }
  }
  const std::vector<store::Revision>& tokens = a->reconciler.tokens;
  EXPECT_EQ(std::set<store::Revision>(tokens.begin(), tokens.end()).size(), 1U);
  EXPECT_EQ(not_ready, 0);
  // Nor does a lease end later for who stands behind a leader that dies.
  b->us.jump_wall_clock(-kYears);
  const TimePoint died = world.now();
  a->us.pause();
  ASSERT_TRUE(until([&] { return b->leader.leads(); }));
  EXPECT_LE(world.now() - died, kTtl + 500ms);
}

/// Two builds of one release, or a leader that comes and goes.
TEST_F(GateLeaderTest, LeadersOfOneReleaseThatTakeTurnsNeverSayThatTheObjectsChange) {
  bool working = false;
  int kept_out = 0;
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  const auto b = make("b", product(1));
  ASSERT_TRUE(until([&] { return b->ready(); }));
  b->node.listen(
      [&] { working = working || b->node.report().stored.status.state != State::kDone; });
  for (TestNode* const one : {a.get(), b.get()})
    one->node.listen([&kept_out, one] { kept_out += one->ready() ? 0 : 1; });
  std::set<std::string> leaders;
  for (int turn = 0; turn < 6; ++turn) {
    const std::size_t before = objects.written.size();
    write(store::Erase{queue()});
    ASSERT_TRUE(until([&] { return objects.written.size() > before; }, 1min));
    world.run_for(5s);
    leaders.insert(objects.written.back());
  }
  EXPECT_EQ(leaders.size(), 2U) << "both had a turn";
  EXPECT_FALSE(working);
  EXPECT_EQ(kept_out, 0);
}

// Each of its registrations comes between the look at the nodes and the claim.
TEST_F(GateLeaderTest, ANodeThatIsRegisteredAgainAndAgainDelaysNobody) {
  const auto a = make("a", product(1, 1));
  a->store.list_takes = 5ms;
  for (int i = 0; i < 1000 && !a->ready(); ++i) {
    const Identity flapping{.node = "n", .boot = std::to_string(i)};
    write(store::Put{"gate/nodes/n", write_node(flapping, {.major = 1}, "")});
    world.run_for(10ms);
  }
  EXPECT_TRUE(a->ready()) << a->why();
}

TEST_F(GateLeaderTest, ATransactionWhoseOutcomeIsNotKnownIsFoundOut) {
  const auto a = make("a", product(1, 1));
  ASSERT_TRUE(until([&] { return a->leader.leads(); }));
  a->store.lost_answers = 3;
  EXPECT_TRUE(until([&] { return a->ready(); }, 2min)) << a->why();
  EXPECT_EQ(objects.most_at_once, 1);
}

TEST_F(GateLeaderTest, WhoChangesTheStatusBehindItsBackMakesItBeginAnew) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  write(store::Erase{store::KeyRange::one(kLayout.status())});
  ASSERT_TRUE(until([&] { return !a->ready(); }, 1s));
  EXPECT_TRUE(until([&] { return a->ready(); }, 1min));
  EXPECT_EQ(objects.most_at_once, 1);
}

/// `wardmote pause`: the record of everything. One of a single cluster is no matter of a gate's.
TEST_F(GateLeaderTest, WhileEverythingIsPausedItWritesNothing) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  const auto pause = [&](std::optional<Duration> time) {
    const store::ClockPair clock{outside.now(), outside.wall_now()};
    const judge::plan::Pause record{
        .by = "ann", .until = time ? std::optional(clock.now + *time) : std::nullopt};
    return store::encode(record, clock);
  };
  write(store::Put{"pause/ovn-nb", pause({})});
  world.run_for(5s);
  EXPECT_TRUE(a->leader.leads());
  objects.takes = 1h;
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 1min));
  write(store::Put{"pause/", pause({})});
  ASSERT_TRUE(until([&] { return objects.under_way == 0 && !a->leader.leads(); }, 1s));
  world.run_for(2min);
  EXPECT_EQ(objects.under_way, 0);
  EXPECT_NE(a->leader.complaint()->find("paused by ann"), std::string::npos);
  EXPECT_TRUE(a->ready()) << "who serves goes on";
  write(store::Put{"pause/", pause(10s)});
  world.run_for(8s);
  EXPECT_EQ(objects.under_way, 0);
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 1min)) << "it was for ten seconds";
  write(store::Put{"pause/", "no record"});
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, 1s)) << "it holds";
  write(store::Erase{store::KeyRange::one("pause/")});
  EXPECT_TRUE(until([&] { return objects.under_way == 1; }, 1min));
}

TEST_F(GateLeaderTest, ARestartInTheMiddleGoesOnWithWhatTheStoreSays) {
  {
    const auto a = make("a", product(2));
    ASSERT_TRUE(until([&] { return a->ready(); }));
  }
  objects.takes = 1h;
  auto a = make("a", product(1), true, "a down");
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }));
  a.reset();
  objects.takes = 500ms;
  EXPECT_EQ(status().state, State::kWorking);
  const auto again = make("a", product(1), true, "a again");
  ASSERT_TRUE(until([&] { return again->ready(); }, 1min));
  ASSERT_TRUE(until([&] { return status().state == State::kDone; }, 1min));
  EXPECT_EQ(objects.written.back(), "a 1.0.0");
}

TEST_F(GateLeaderTest, AnEmptiedStoreIsBegunAnewByANodeThatStandsAgain) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  write(store::Erase{store::KeyRange::prefix("gate/")});
  ASSERT_TRUE(until([&] { return !a->ready(); }, 1s));
  EXPECT_TRUE(until([&] { return a->ready(); }, 1min)) << a->why();
  EXPECT_EQ(objects.most_at_once, 1);
}

TEST_F(GateLeaderTest, WhoHasLostItsNameDoesNotStand) {
  const auto first = make("a", product(2), true, "first");
  ASSERT_TRUE(until([&] { return first->ready() && first->leader.leads(); }));
  const auto second = make("a", product(2), false, "second");
  ASSERT_TRUE(until([&] { return !first->leader.leads(); }, 10s));
  world.run_for(5s);
  bool stood = false;
  first->node.listen([&] { stood = stood || !first->node.report().candidates.empty(); });
  world.run_for(1min);
  EXPECT_FALSE(first->node.registered());
  EXPECT_FALSE(stood) << "the name's other process is of the same release";
}

/// It would hold the lead, and each of its claims would fail.
TEST_F(GateLeaderTest, WhoDoesNotSeeItselfAmongTheNodesLeavesTheLeadToOthers) {
  const auto a = make("a", product(1));
  a->store.deaf = kLayout.nodes;
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  bool led = false;
  a->node.listen([&] { led = led || a->leader.leads(); });
  world.run_for(30s);
  EXPECT_FALSE(led);
  const auto b = make("b", product(1));
  EXPECT_TRUE(until([&] { return b->ready(); }, 20s)) << b->why();
}

}  // namespace
}  // namespace wardmote::act::gate
