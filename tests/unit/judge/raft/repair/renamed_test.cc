// Names of the configuration that mean something else since the plan was made. On real clusters an
// agent told a server of another cluster to join anew: the names of two clusters had been exchanged
// while the plan ran.

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/plan/plan.h"
#include "judge/raft/repair/remedy.h"
#include "unit/judge/raft/repair/plan_fixture.h"

namespace wardmote::judge::raft::repair {
namespace {

const MemberId kCluster = *parse_member_id("1a970000-0000-4000-8000-00000000000c");
const MemberId kOther = *parse_member_id("4b4e465c-0000-4000-8000-00000000000d");

class Renamed : public PlanFixture {
 protected:
  Renamed() {
    plan_.cluster_id = view_.cluster_id = kCluster;
    plan_.place = cluster_.places["ctl-3"] = "unix:/run/3.ctl ";
  }
  [[nodiscard]] RaftRemedy remedy() const { return {cluster_, view_}; }
  plan::Decision decide() {
    view_.begun = now_;
    return plan::decide(plan_.stored(), remedy(), {}, now_);
  }

  RepairCluster cluster_{"ovn-nb", "OVN_Northbound", {"ctl-3"}, {}};
};

TEST_F(Renamed, AClusterIsWhatItSaysElseWhereItIsAsked) {
  cluster_.places["ctl-1"] = "unix:/run/4.ctl ";
  const std::vector<std::string> places = {"asked at unix:/run/4.ctl ",
                                           "asked at unix:/run/3.ctl "};
  std::vector<std::string> all = places;
  all.insert(all.begin(), to_string(kCluster));
  EXPECT_EQ(remedy().identities(), all);
  view_.cluster_id = {};
  EXPECT_EQ(remedy().identities(), places);
  cluster_.places.clear();
  EXPECT_TRUE(remedy().identities().empty());
}

TEST_F(Renamed, APlanThatHasDoneNothingIsWithdrawn) {
  at(StepKind::kKick);
  EXPECT_EQ(decide().move, Move::kBegin);
  view_.cluster_id = kOther;
  EXPECT_EQ(decide().move, Move::kWithdraw);
  EXPECT_EQ(decide().detail, "ovn-nb is another cluster in the configuration of now");
  EXPECT_TRUE(remedy().obstacle(plan_.stored()));
  EXPECT_EQ(remedy().recovered(plan_.stored()), decide().detail) << "and not: somebody removed it";
}

TEST_F(Renamed, APlanThatIsHalfWayAsks) {
  at(StepKind::kRejoin);
  kicked();
  EXPECT_EQ(decide().move, Move::kBegin);
  view_.cluster_id = kOther;
  EXPECT_EQ(decide().move, Move::kAsk);
  view_.cluster_id = {};
  EXPECT_EQ(decide().move, Move::kBegin) << "nobody says that it is another";
}

// The names of two members were exchanged: the one that never changed was called the new one.
TEST_F(Renamed, AMemberThatIsAskedElsewhereIsNotTheOneThatWasKicked) {
  at(StepKind::kRejoin, StepState::kBegun);
  plan_.changed = now_ - std::chrono::minutes(3);
  kicked();
  come_back(true);
  EXPECT_EQ(decide().move, Move::kFinish);
  cluster_.places["ctl-3"] = "unix:/run/2.ctl ";
  EXPECT_EQ(decide().move, Move::kAsk);
  EXPECT_EQ(decide().detail,
            "ctl-3 is asked or rebuilt in another way in the configuration of now: it may be "
            "another server");
  cluster_.places = {{"ctl-3", plan_.place}};
  EXPECT_EQ(decide().move, Move::kFinish);
  cluster_.commands["ctl-3"] = "/usr/local/bin/rejoin ctl-2 ";
  EXPECT_EQ(decide().move, Move::kAsk) << "the word of one host is no word of another";
  cluster_.places.clear();
  EXPECT_EQ(decide().move, Move::kAsk);
}

TEST_F(Renamed, AnotherClustersPlanIsNotTheSame) {
  const RepairPlan made = plan_;
  EXPECT_TRUE(remedy().is_same(made.stored(), plan_.stored()));
  plan_.cluster_id = kOther;
  EXPECT_FALSE(remedy().is_same(made.stored(), plan_.stored()));
  plan_.cluster_id = {};
  EXPECT_TRUE(remedy().is_same(made.stored(), plan_.stored())) << "it may be";
  plan_.place = "unix:/run/2.ctl ";
  EXPECT_FALSE(remedy().is_same(made.stored(), plan_.stored()));
}

// A rejected kick was done as soon as its cluster had another name.
TEST_F(Renamed, ARejectionHoldsUnderAnotherName) {
  remove_only();
  const RepairPlan rejected = plan_;
  cluster_.name = "northbound";
  plan_.target.name = cluster_.name;
  EXPECT_TRUE(remedy().is_rejected_by(rejected.stored(), plan_.stored()));
  EXPECT_FALSE(remedy().is_well(rejected.stored()));
  kicked();
  EXPECT_TRUE(remedy().is_well(rejected.stored())) << "the same cluster does not list it";
  view_.cluster_id = kOther;
  EXPECT_FALSE(remedy().is_well(rejected.stored())) << "nor does another cluster of that name";
}

TEST_F(Renamed, APlanKnowsItsClusterAndItsPlaceAfterARestart) {
  const RepairPlan again = RepairPlan::of(plan_.stored()).value();
  EXPECT_EQ(again.cluster_id, kCluster);
  EXPECT_EQ(again.place, plan_.place);
}

TEST_F(Renamed, ADraftSaysOfWhichClusterAndPlaceItIs) {
  const auto draft = remedy().draft_for("ctl-3");
  ASSERT_TRUE(draft);
  const RepairPlan plan = RepairPlan::of(*draft).value();
  EXPECT_EQ(plan.cluster_id, kCluster);
  EXPECT_EQ(plan.place, "unix:/run/3.ctl ");
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
