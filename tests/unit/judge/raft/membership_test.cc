#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

// Capture 22: the remotes that it wants to join by do not answer.
TEST(JoiningStuck, AfterThirtySeconds) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643",
                                   "tcp:10.0.0.4:6643"};
  cluster.expectation.replicas = 3;
  const std::size_t fourth =
      cluster.add_node("ctl-4", "736ef006-0c2f-4a09-9c89-6158fa4f8c9a", "tcp:10.0.0.4:6643");
  Node& joiner = cluster.node(fourth);
  joiner.standing = Standing::kJoining;
  joiner.cluster_id = {};
  joiner.own_list = std::vector<Server>{};
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"critical RAFT_JOINING_STUCK ctl-4"});
  EXPECT_EQ(found.members[3].reason.text, "joining cluster");
}

TEST(JoiningStuck, WhomItDialsAndWhatTheLeaderDoesAreTold) {
  FakeCluster cluster(3);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "736ef006-0c2f-4a09-9c89-6158fa4f8c9a", "tcp:10.0.0.4:6643");
  Node& joiner = cluster.node(fourth);
  joiner.standing = Standing::kJoining;
  joiner.cluster_id = {};
  joiner.own_list = std::vector<Server>{};
  std::vector<std::string> remotes{"tcp:10.0.0.9:6643"};
  bool adding = false;
  cluster.edit = [&](std::vector<Opinion>& all) {
    all[fourth].status->join_remotes = remotes;
    if (adding) {
      all[0].status->changes = {
          {true, *parse_member_id("736e"), "tcp:10.0.0.4:6643", Phase::kAddingCatchup}};
    }
  };
  const std::string unknown = ", and the addresses that it dials are not in the list";
  EXPECT_TRUE(the(Code::kRaftJoiningStuck, cluster.watch(35s)).summary.ends_with(unknown));
  remotes.emplace_back("tcp:10.0.0.1:6643");
  EXPECT_TRUE(the(Code::kRaftJoiningStuck, cluster.look()).summary.ends_with("does not get in"));
  adding = true;
  const Finding found = the(Code::kRaftJoiningStuck, cluster.look());
  EXPECT_EQ(found.evidence.back().says,
            "Adding server 736e at tcp:10.0.0.4:6643 (adding: catchup)");
  ASSERT_TRUE(found.advice);
  EXPECT_TRUE(found.advice->text.starts_with("ctl-1 (dea6) is adding it")) << found.advice->text;
}

TEST(JoiningStuck, NotIfItGetsInInTime) {
  FakeCluster cluster(3);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "736ef006-0c2f-4a09-9c89-6158fa4f8c9a", "tcp:10.0.0.4:6643");
  cluster.node(fourth).standing = Standing::kJoining;
  cluster.watch(10s);
  cluster.enlist(fourth, Phase::kAddingCatchup);
  cluster.watch(5s);
  cluster.enlist(fourth);
  cluster.node(fourth).standing = Standing::kMember;
  EXPECT_EQ(told(cluster.watch(60s)), Told{"info RAFT_CLUSTER_SIZE"});
}

// Capture 17: kicked, and the process runs on without the database.
TEST(MemberRemoved, KickedButRunning) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.watch(5s);
  cluster.strike(2);
  cluster.node(2).mode = Mode::kAbsent;
  cluster.node(2).silence = ReasonCode::kUnknownCluster;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(told(found),
            (Told{"critical RAFT_MEMBER_REMOVED ctl-3",
                  "warning RAFT_MISSING_MEMBER tcp:10.0.0.3:6643", "warning RAFT_CLUSTER_SIZE"}));
  EXPECT_EQ(the(Code::kRaftMemberRemoved, found).subjects.size(), 3U)
      << "its old id and address are remembered";
  EXPECT_EQ(found.members[2].outcome, Outcome::kFail);
}

/// The server of node `i` runs, and carries `serves` only.
void detach(FakeCluster& cluster, std::size_t i) {
  cluster.isolate(i);
  cluster.node(i).mode = Mode::kAbsent;
  cluster.node(i).silence = ReasonCode::kUnknownCluster;
}

void expect_nothing_destroyed(const Assessment& found) {
  for (const Finding& finding : found.findings) {
    EXPECT_FALSE(finding.advice->text.contains("emove its database")) << finding.advice->text;
    EXPECT_FALSE(finding.advice->text.contains("wipe")) << finding.advice->text;
  }
}

/// It gave up before its removal was committed, and ovsdb-server takes its database back in no way.
TEST(NoDatabase, WhoLeftIsNotToldToComeBackWithWhatItHad) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).standing = Standing::kLeaving;
  cluster.watch(5s);
  detach(cluster, 2);
  const std::string text = the(Code::kRaftNoDatabase, cluster.watch(20s)).advice->text;
  EXPECT_TRUE(text.starts_with("It was leaving the cluster")) << text;
  EXPECT_FALSE(text.contains("add-db")) << text;
}

TEST(NoDatabase, AMisspeltNameIsTheConfigurationsFault) {
  FakeCluster cluster(3);
  cluster.expectation.database = "OVN_Southbound";
  for (const std::size_t i : {0, 1, 2}) detach(cluster, i);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) opinion.serves = {"OVN_Northbound"};
  };
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(5s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_NO_DATABASE ctl-1", "critical RAFT_NO_DATABASE ctl-2",
                               "critical RAFT_NO_DATABASE ctl-3"}));
  EXPECT_EQ(found.findings[0].summary,
            "ctl-1 has no database OVN_Southbound; it serves OVN_Northbound");
  EXPECT_EQ(
      found.findings[0].advice->text,
      "None of the members that are given here serves OVN_Southbound: correct 'database' in the "
      "configuration, or attach it again.");
  expect_nothing_destroyed(found);
}

TEST(NoDatabase, ADetachedDatabaseIsKept) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  detach(cluster, 2);
  const Assessment found = cluster.watch(30s);
  const Finding& detached = the(Code::kRaftNoDatabase, found);
  EXPECT_TRUE(detached.advice->text.contains("It was 1430, which is still listed"));
  EXPECT_FALSE(has(Code::kRaftMemberRemoved, found));
  expect_nothing_destroyed(found);
}

TEST(NoDatabase, NobodyKnowsWhoItWasAfterARestartOfTheAgent) {
  FakeCluster cluster(3);
  cluster.strike(2);
  detach(cluster, 2);
  const Assessment found = cluster.watch(30s);
  EXPECT_TRUE(has(Code::kRaftNoDatabase, found));
  EXPECT_FALSE(has(Code::kRaftMemberRemoved, found));
  EXPECT_EQ(found.members[2].reason.text, "does not serve the database");
  expect_nothing_destroyed(found);
}

TEST(MemberRemoved, LeavingIsGivenThirtySecondsAndIsAWarning) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).standing = Standing::kLeaving;
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
  EXPECT_EQ(told(cluster.watch(1s)), Told{"warning RAFT_MEMBER_REMOVED ctl-3"});
  cluster.node(2).standing = Standing::kLeft;
  cluster.strike(2);
  EXPECT_EQ(told(cluster.watch(10s)),
            (Told{"critical RAFT_MEMBER_REMOVED ctl-3", "info RAFT_CLUSTER_SIZE"}));
}

TEST(MemberListMismatch, AtTheSameIndex) {
  FakeCluster cluster(3);
  cluster.watch(3s);
  std::vector<Server> other = cluster.list();
  other[2].nickname = "beef";
  other[2].id = *parse_member_id("beef");
  cluster.node(1).own_list = other;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  EXPECT_EQ(told(cluster.watch(1s)), Told{"warning RAFT_MEMBER_LIST_MISMATCH ctl-2"});
}

TEST(MemberListMismatch, TheOrderOfAListMeansNothing) {
  FakeCluster cluster(3);
  std::vector<Server> other = cluster.list();
  std::swap(other[0], other[2]);
  cluster.node(1).own_list = other;
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

TEST(MemberListMismatch, AMemberThatIsBehindKnowsAnOlderList) {
  FakeCluster cluster(3);
  std::vector<Server> other = cluster.list();
  other.pop_back();
  cluster.node(1).own_list = other;
  --cluster.node(1).log_next;
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

// Capture 33: the plunger suspects a healthy member here.
TEST(MemberListMismatch, NotWhileAServerIsBeingAddedOrRemoved) {
  FakeCluster cluster(3);
  const std::vector<Server> old = cluster.list();
  cluster.node(1).own_list = old;
  cluster.node(2).own_list = old;
  cluster.strike(2);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->changes.push_back(
        {.adding = false, .id = all[2].status->server_id, .phase = Phase::kRemoving});
  };
  EXPECT_FALSE(has(Code::kRaftMemberListMismatch, cluster.watch(20s)));
}

TEST(ModeMismatch, StandaloneAndRelayWhereAClusterIsExpected) {
  for (const Mode mode : {Mode::kStandalone, Mode::kRelay}) {
    FakeCluster cluster(3);
    cluster.watch(3s);
    cluster.node(2).mode = mode;
    cluster.isolate(2);
    EXPECT_EQ(told(cluster.watch(2s)), Told{});
    const Assessment found = cluster.watch(1s);
    EXPECT_EQ(told(found),
              (Told{"critical RAFT_MODE_MISMATCH ctl-3", "warning RAFT_QUORUM_MARGIN"}));
    EXPECT_EQ(found.members[2].reason.text, to_string(mode));
    EXPECT_EQ(told(cluster.watch(60s)), told(found)) << "its listed is silent, not dead";
  }
}

TEST(ModeMismatch, AnExpectedClusterThatIsStandaloneAltogether) {
  FakeCluster cluster(1);
  cluster.node(0).mode = Mode::kStandalone;
  EXPECT_EQ(told(cluster.watch(5s)), Told{"critical RAFT_MODE_MISMATCH ctl-1"});
}

TEST(MemberDown, WhoAnswersAndIsNotLetInYetIsNotBack) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(2);
  ASSERT_TRUE(has(Code::kRaftMemberDown, cluster.watch(5s)));
  cluster.heal(2);
  Node& joiner = cluster.node(2);
  joiner.id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(5s)));
  joiner.standing = Standing::kMember;
  joiner.own_list.reset();
  cluster.enlist(2);
  EXPECT_FALSE(has(Code::kRaftMemberDown, cluster.watch(5s)));
}

}  // namespace
}  // namespace wardmote::judge::raft
