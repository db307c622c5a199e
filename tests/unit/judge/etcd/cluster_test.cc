// Members of etcd before the judge of every raft, and what only etcd has.
#include "judge/etcd/cluster.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "unit/judge/etcd/cluster_fixture.h"

namespace wardmote::judge::etcd {
namespace {

using namespace std::chrono_literals;
using enum Code;

TEST_F(EtcdClusterTest, AHealthyClusterHasNoFinding) {
  expectation_.peer_urls = {"http://10.0.0.0:2380", "http://10.0.0.1:2380", "http://10.0.0.2:2380"};
  EXPECT_EQ(looks(60).verdict, Verdict::kOk);
  EXPECT_TRUE(last_.findings.empty());
  EXPECT_TRUE(last_.observed.empty());
  EXPECT_EQ(last_.leader, 0U);
  EXPECT_EQ(last_.quorum.voters, 3U);
  EXPECT_EQ(last_.quorum.live, 3U);
}

TEST_F(EtcdClusterTest, AMemberThatIsDownLeavesNoMargin) {
  looks(3);
  silence(2, ReasonCode::kRefused);
  looks(10);
  EXPECT_TRUE(find(kRaftMemberDown));
  EXPECT_TRUE(find(kRaftQuorumMargin));
  EXPECT_FALSE(find(kRaftNoQuorum));
  for (const Finding& finding : last_.findings)
    EXPECT_TRUE(!finding.advice || finding.advice->command.empty()) << "nothing of OVSDB";
}

TEST_F(EtcdClusterTest, AMemberThatHangsIsToldApart) {
  looks(3);
  silence(1, ReasonCode::kHung);
  looks(10);
  EXPECT_TRUE(find(kRaftMemberHung));
}

TEST_F(EtcdClusterTest, TwoOfThreeDownIsNoQuorumAndNoKickIsAdvised) {
  looks(3);
  silence(0, ReasonCode::kRefused);
  silence(1, ReasonCode::kRefused);
  no_leader();
  looks(10);
  const Finding* const found = find(kRaftNoQuorum);
  ASSERT_TRUE(found);
  EXPECT_EQ(last_.verdict, Verdict::kCritical);
  ASSERT_TRUE(found->advice);
  EXPECT_EQ(found->advice->text.find("kick"), std::string::npos);
  EXPECT_NE(found->advice->text.find("--force-new-cluster"), std::string::npos);
}

TEST_F(EtcdClusterTest, AllAnswerAndNobodyKnowsALeader) {
  looks(3);
  no_leader();
  looks(10);
  EXPECT_TRUE(find(kRaftNoLeader));
  EXPECT_FALSE(find(kRaftNoQuorum));
}

TEST_F(EtcdClusterTest, TwoLeadersInOneTermAreAContradictionAtOnce) {
  looks(3);
  views_[1].facts->leader = id(1);
  looks(1);
  EXPECT_TRUE(find(kRaftTwoLeadersSameTerm));
}

TEST_F(EtcdClusterTest, AMemberOfAnotherClusterIsForeign) {
  looks(3);
  views_[2].facts->cluster_id = 0x1234;
  looks(10);
  EXPECT_TRUE(find(kRaftClusterIdMismatch));
}

TEST_F(EtcdClusterTest, AFollowerThatStaysBehindLags) {
  looks(3);
  for (int i = 0; i < 40; ++i) {
    for (const std::size_t moving : {0U, 1U})
      views_[moving].facts->index = views_[moving].facts->applied += 50;
    looks(1);
  }
  const Finding* const found = find(kRaftLogLag);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->subjects.front(), "etcd-2");
}

TEST_F(EtcdClusterTest, AnAlarmIsSeenThroughWhicheverMemberAnswers) {
  looks(3);
  silence(0, ReasonCode::kRefused);
  views_[1].facts->alarms = {{id(2), AlarmKind::kNospace, "NOSPACE"}};
  looks(1);
  const Finding* const found = find(kEtcdNospace);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::kCritical);
  EXPECT_EQ(found->subjects.front(), "etcd-2");
  EXPECT_EQ(last_.findings.front().severity, Severity::kCritical);
  EXPECT_EQ(last_.verdict, Verdict::kCritical);
  // Nobody answers: it still stands.
  for (std::size_t i = 0; i < 3; ++i) silence(i, ReasonCode::kUnreachable);
  looks(1);
  EXPECT_TRUE(find(kEtcdNospace));
  views_ = {member(0), member(1), member(2)};
  looks(1);
  EXPECT_FALSE(find(kEtcdNospace)) << "disarmed";
}

TEST_F(EtcdClusterTest, ACorruptMemberIsNamed) {
  views_[0].facts->alarms = {{id(1), AlarmKind::kCorrupt, "CORRUPT"}};
  looks(1);
  ASSERT_TRUE(find(kEtcdCorrupt));
  EXPECT_EQ(find(kEtcdCorrupt)->subjects.front(), "etcd-1");
}

TEST_F(EtcdClusterTest, ADatabaseNearItsQuotaWarnsAndMoreIsCritical) {
  expectation_.quota = 100 << 20;
  views_[1].facts->db_bytes = 85 << 20;
  views_[1].facts->db_bytes_in_use = 5 << 20;
  looks(15);
  const Finding* found = find(kEtcdQuota);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::kWarning);
  ASSERT_TRUE(found->advice) << "most of it is free";
  EXPECT_NE(found->advice->text.find("Defragment etcd-1"), std::string::npos);
  views_[1].facts->db_bytes = views_[1].facts->db_bytes_in_use = 96 << 20;
  looks(1);
  found = find(kEtcdQuota);
  EXPECT_EQ(found->severity, Severity::kCritical);
  EXPECT_EQ(found->advice->text.find("Defragment etcd-1"), std::string::npos) << "all is in use";
  views_[1].facts->quota_bytes = std::int64_t{8} << 30;
  looks(1);
  EXPECT_FALSE(find(kEtcdQuota)) << "what it says itself counts more than the configuration";
}

TEST_F(EtcdClusterTest, ALearnerDoesNotVoteAndIsToldOf) {
  for (MemberView& view : views_) {
    view.facts->members.push_back(
        {.id = 7, .name = "m3", .peer_urls = {"http://10.0.0.3:2380"}, .learner = true});
  }
  views_.push_back(member(0));
  views_[3].name = "etcd-3";
  views_[3].facts->member_id = 7;
  views_[3].facts->learner = true;
  looks(20);
  ASSERT_TRUE(find(kEtcdLearner));
  EXPECT_EQ(find(kEtcdLearner)->severity, Severity::kInfo);
  EXPECT_EQ(codes(), std::vector<Code>{kEtcdLearner});
  EXPECT_EQ(last_.quorum.voters, 3U);
  EXPECT_EQ(last_.verdict, Verdict::kOk);
}

TEST_F(EtcdClusterTest, AMemberThatWasNeverStartedAndOneThatNobodyAsksAreToldApart) {
  for (MemberView& view : views_)
    view.facts->members.push_back({.id = 7, .name = "", .peer_urls = {"http://10.0.0.3:2380"}});
  looks(60);
  EXPECT_TRUE(find(kEtcdUnstartedMember));
  EXPECT_FALSE(find(kEtcdUnwatchedMember));
  for (MemberView& view : views_) view.facts->members.back().name = "m3";
  looks(20);
  EXPECT_FALSE(find(kEtcdUnstartedMember));
  EXPECT_TRUE(find(kEtcdUnwatchedMember));
}

TEST_F(EtcdClusterTest, WhileAMemberIsSilentNobodyIsCalledUnwatched) {
  looks(3);
  silence(2, ReasonCode::kRefused);
  looks(30);
  EXPECT_FALSE(find(kEtcdUnwatchedMember));
}

TEST_F(EtcdClusterTest, VersionsMayDifferForATimeUnlessTheyAreTooFarApart) {
  views_[1].facts->version = "3.5.9";
  looks(60);
  EXPECT_FALSE(find(kEtcdVersionSkew)) << "an upgrade";
  looks(1800);
  ASSERT_TRUE(find(kEtcdVersionSkew));
  EXPECT_EQ(find(kEtcdVersionSkew)->severity, Severity::kInfo);
  views_[1].facts->version = "3.6.1";
  looks(20);
  EXPECT_EQ(find(kEtcdVersionSkew)->severity, Severity::kWarning);
}

TEST_F(EtcdClusterTest, TheOrderOfTheMembersChangesNoFinding) {
  silence(2, ReasonCode::kRefused);
  views_[0].facts->alarms = {{id(1), AlarmKind::kNospace, "NOSPACE"}};
  Memory other;
  std::vector<MemberView> turned;
  for (int i = 0; i < 20; ++i) {
    looks(1);
    turned = {views_[2], views_[0], views_[1]};
    EXPECT_EQ(assess(turned, expectation_, other, now_).findings, last_.findings);
  }
}

TEST_F(EtcdClusterTest, OneMemberByItself) {
  MemberFacts facts = *member(1).facts;
  EXPECT_EQ(judge_member(facts, {}).outcome, Outcome::kOk);
  facts.learner = true;
  EXPECT_EQ(judge_member(facts, {}).outcome, Outcome::kWarn);
  facts.learner = false;
  EXPECT_EQ(judge_member(facts, 21 << 10).outcome, Outcome::kWarn) << "near this quota";
  facts.leader = 0;
  EXPECT_EQ(judge_member(facts, {}).outcome, Outcome::kFail);
  facts.leader = id(0);
  facts.alarms = {{id(2), AlarmKind::kCorrupt, "CORRUPT"}};
  EXPECT_EQ(judge_member(facts, {}).outcome, Outcome::kFail);
}

}  // namespace
}  // namespace wardmote::judge::etcd
