// A server goes on in another place, and another one asks to join in its own.

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/raft/member_id.h"
#include "unit/judge/raft/fake_cluster.h"
#include "unit/judge/raft/removal_fixture.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

/// Node 3 was wiped and asks to join at its address. Its former server goes on elsewhere, of which
/// the agent is not told. Returns the number of that one.
std::size_t join_beside_the_former(FakeCluster& cluster) {
  const Node member = cluster.node(3);
  const std::size_t former = cluster.add_node("former", to_string(member.id), member.address);
  cluster.node(former).configured = false;
  Node& joiner = cluster.node(3);
  joiner.id = *parse_member_id(kSuccessor);
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  return former;
}

void let_in(FakeCluster& cluster) {
  cluster.node(3).standing = Standing::kMember;
  cluster.node(3).own_list.reset();
  cluster.enlist(3);
}

// It joined by mistake with the address of a member that lives. Nobody is a ghost, and all is well
// until one of the two restarts.
TEST(StaleMember, TwoWhoLiveAtOneAddressAreTold) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const std::size_t other = cluster.add_node("other", kSuccessor, cluster.node(2).address);
  cluster.node(other).configured = false;
  cluster.enlist(other);
  const Assessment look = cluster.watch(30s);
  const Finding finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.ends_with("and two of them live")) << finding.summary;
  EXPECT_TRUE(finding.advice->command.empty());
  // It is locked out when it has restarted, and campaigns: three of four acknowledge, none may
  // fail.
  cluster.node(2).role = Role::kCandidate;
  cluster.node(2).follows.reset();
  cluster.node(2).term = 9;
  const Assessment locked_out = cluster.watch(30s);
  EXPECT_TRUE(has(Code::kRaftQuorumMargin, locked_out));
  EXPECT_TRUE(has(Code::kRaftStaleMember, locked_out));
  // Of one that lives alone there is no more to say than before.
  cluster.kill(2);
  const Finding alone = the(Code::kRaftStaleMember, cluster.watch(30s));
  EXPECT_FALSE(alone.summary.contains("two of them live")) << alone.summary;
}

TEST(StaleMember, TwoMembersThatAnswerAtOneAddressAreTold) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  // Member 3 is wiped and joins with the address of member 2 by mistake.
  Node& mistaken = cluster.node(3);
  const MemberId former = mistaken.id;
  mistaken.id = *parse_member_id(kSuccessor);
  mistaken.address = cluster.node(2).address;
  cluster.enlist(3);
  cluster.strike(short_name(former));
  const Finding finding = the(Code::kRaftStaleMember, cluster.watch(30s));
  EXPECT_TRUE(finding.summary.ends_with("and two of them live")) << finding.summary;
  EXPECT_TRUE(finding.advice->command.empty());
}

// The mistake is put right, and what is left is the ordinary ghost: who answers is at its place,
// whoever was listed there beside it before.
TEST(StaleMember, AfterAMistakenJoinWasPutRightTheFormerServerIsAGhost) {
  FakeCluster cluster(5);
  for (std::size_t i = 0; i < 5; ++i)
    cluster.expectation.addresses.push_back(cluster.node(i).address);
  cluster.watch(5s);
  Node& member = cluster.node(3);
  const std::string own = member.address;
  member.id = *parse_member_id(kSuccessor);
  member.address = cluster.node(2).address;
  cluster.enlist(3);
  cluster.watch(30s);
  // It is emptied again, and joins with its own address.
  member.id = *parse_member_id(kStranger);
  member.address = own;
  cluster.strike(kSuccessor.substr(0, 4));
  cluster.enlist(3);
  const Finding& finding = the(Code::kRaftStaleMember, cluster.watch(20min));
  EXPECT_TRUE(finding.summary.contains("a ghost")) << finding.summary;
  EXPECT_FALSE(finding.advice->text.contains("nobody lives at")) << finding.advice->text;
}

// The one that joined was in no list while both were alive.
TEST(Removal, WhoWasAliveBesideOneThatJoinsAtItsAddressIsNoGhost) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  const std::size_t former = join_beside_the_former(cluster);
  cluster.watch(5s);
  cluster.kill(former, ReasonCode::kHung);
  cluster.watch(60s);
  let_in(cluster);
  const Assessment look = cluster.watch(20min);
  expect_spared(cluster, look, short_name(cluster.node(former).id));
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains(
      "2e3d seems to have been alive once while another server, or none, was there"))
      << finding.summary;
}

// The other one has left since, and this one is wiped and joins anew.
TEST(Removal, WhoWasAliveBesideOneThatHasLeftIsNamedAlone) {
  FakeCluster cluster(4);
  cluster.elsewhere = {
      {.server = cluster.node(3).id, .cluster = cluster.node(0).cluster_id, .beside = true}};
  cluster.watch(5s);
  cluster.kill(3);
  const Finding& down = the(Code::kRaftMemberDown, cluster.watch(60s));
  EXPECT_TRUE(down.advice->text.contains(
      "it seems to have been alive once while another server, or none, was at its address"))
      << down.advice->text;
  cluster.heal(3);
  cluster.node(3).id = *parse_member_id(kSuccessor);
  cluster.enlist(3);
  const Assessment look = cluster.watch(60s);
  EXPECT_EQ(the(Code::kRaftStaleMember, look).summary,
            "2e3d, d8d1 are all listed at tcp:10.0.0.4:6643: d8d1 says that it is its address, and "
            "2e3d seems to have been alive once while another server, or none, was there");
  EXPECT_EQ(look.members[3].reason.text, "2e3d is listed at its address, too");
}

// The one that joins ends, so that its place refuses, and the former one hangs.
TEST(Removal, APlaceSaysNothingOfWhoLivedBesideAnotherThere) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  const std::size_t former = join_beside_the_former(cluster);
  cluster.watch(5s);
  cluster.kill(former, ReasonCode::kHung);
  cluster.node(3).silence = ReasonCode::kRefused;
  cluster.watch(20min);
  EXPECT_FALSE(cluster.repair_view().member(cluster.node(3).name)->out);
}

TEST(Removal, WhoEndedBeforeAnotherJoinedAtItsAddressIsAGhost) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  cluster.kill(3);
  cluster.watch(2s);
  cluster.node(3).silence = ReasonCode::kNone;
  cluster.kill(join_beside_the_former(cluster));
  cluster.watch(60s);
  let_in(cluster);
  cluster.heal(3);
  const Assessment look = cluster.watch(60s);
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("a ghost")) << finding.summary;
}

}  // namespace
}  // namespace wardmote::judge::raft
