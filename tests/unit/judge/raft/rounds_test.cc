// Looks that are judged before all members have answered, as the agent does when one of them is
// slow.

#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(Rounds, AMemberThatWasNeverLookedAtIsUnknown) {
  FakeCluster cluster(3);
  std::vector<Opinion> opinions = cluster.opinions();
  opinions[2] = Opinion{.member = "ctl-3"};
  Memory memory;
  const Assessment look = assess(opinions, cluster.expectation, memory, cluster.now());
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.members[2].outcome, Outcome::kUnknown);
  EXPECT_EQ(look.verdict, Verdict::kOk);
}

// The others are asked again while the hung one's last answer is a second old.
TEST(Rounds, AnOldOpinionMakesNoWindowBeginEarlier) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(4, ReasonCode::kHung);
  cluster.watch(10s);
  const std::vector<Opinion> before = cluster.opinions();
  cluster.kill(3);
  cluster.edit = [&](std::vector<Opinion>& all) { all[4] = before[4]; };
  Assessment look = cluster.watch(1s);
  EXPECT_EQ(told(look), Told{"critical RAFT_MEMBER_HUNG ctl-5"});
  const TimePoint shown = cluster.now();
  cluster.edit = {};
  look = cluster.watch(2s);
  EXPECT_TRUE(has(Code::kRaftQuorumMargin, look));
  EXPECT_EQ(the(Code::kRaftQuorumMargin, look).since, shown);
}

TEST(Rounds, JudgingOneRoundTwiceIsOneLook) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(1s);
  std::vector<Opinion> same = cluster.opinions();
  cluster.edit = [&](std::vector<Opinion>& all) { all = same; };
  EXPECT_EQ(told(cluster.watch(10s)), Told{}) << "one sample, however old";
}

}  // namespace
}  // namespace wardmote::judge::raft
