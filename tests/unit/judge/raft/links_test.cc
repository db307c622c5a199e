#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

std::string name_of(std::size_t i) {
  constexpr const char* kNames[] = {"dea6", "499b", "1430", "2e3d", "e830"};
  return kNames[i];
}

/// Every member has a connection to and from every other.
void connect_all(std::vector<Opinion>& all) {
  for (std::size_t self = 0; self < all.size(); ++self) {
    if (!all[self].status) continue;
    for (std::size_t peer = 0; peer < all.size(); ++peer) {
      if (peer == self) continue;
      all[self].status->links.push_back({name_of(peer), true, true});
      all[self].status->links.push_back({name_of(peer), false, true});
    }
  }
}

/// Node `from` cannot open a connection to `to`.
void shut(std::vector<Opinion>& all, std::size_t from, std::size_t to) {
  for (Link& link : all[from].status->links)
    if (link.outgoing && link.peer == name_of(to)) link.up = false;
  std::erase_if(all[to].status->links,
                [&](const Link& link) { return !link.outgoing && link.peer == name_of(from); });
}

TEST(LinkAsymmetric, AMeshIsQuiet) {
  FakeCluster cluster(5);
  cluster.edit = connect_all;
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

// Capture 19: a firewall in front of one member's raft port; the cluster works over the connections
// that it opens itself.
TEST(LinkAsymmetric, AShutInboundPort) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 0, 2);
    shut(all, 1, 2);
  };
  EXPECT_EQ(told(cluster.watch(12s)), Told{}) << "a server waits up to 8 s before it redials";
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_LINK_ASYMMETRIC ctl-3"});
  const Finding& link = the(Code::kRaftLinkAsymmetric, found);
  EXPECT_EQ(link.advice->text,
            "Open the raft port of ctl-3 (1430) (tcp:10.0.0.3:6643) to ctl-1 (dea6), ctl-2 (499b): "
            "look for a firewall in front of it. The next leader may not be heard.");
  EXPECT_TRUE(link.advice->command.empty());
}

TEST(LinkAsymmetric, OnePairOnly) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 1, 2);
  };
  EXPECT_EQ(the(Code::kRaftLinkAsymmetric, cluster.watch(15s)).summary,
            "ctl-2 (499b) cannot connect to ctl-3 (1430), which connects to them");
}

// The connection that a member joined through stays `->0000` for ever.
TEST(LinkAsymmetric, AnUnidentifiedConnectionIsKnownByElimination) {
  FakeCluster cluster(3);
  const auto forget_the_name = [](std::vector<Opinion>& all) {
    for (Link& link : all[1].status->links)
      if (link.outgoing && link.peer == "dea6") link.peer = "0000";
  };
  cluster.edit = [&](std::vector<Opinion>& all) {
    connect_all(all);
    forget_the_name(all);
  };
  EXPECT_EQ(told(cluster.watch(10s)), Told{});
  cluster.edit = [&](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 1, 0);
    forget_the_name(all);
  };
  EXPECT_EQ(told(cluster.watch(15s)), Told{"warning RAFT_LINK_ASYMMETRIC ctl-1"});
}

// A short election timer does not make the servers redial sooner.
TEST(LinkAsymmetric, TheBackOffIsTheSameAtAnyTimer) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 0, 2);
    for (Opinion& opinion : all) opinion.status->election_timer = 200ms;
  };
  EXPECT_FALSE(has(Code::kRaftLinkAsymmetric, cluster.watch(10s)));
  EXPECT_TRUE(has(Code::kRaftLinkAsymmetric, cluster.watch(5s)));
}

// What is meant for the ghost reaches the process that lives at its address, and is refused.
TEST(LinkAsymmetric, IsAConsequenceOfAGhostAtTheSameAddress) {
  FakeCluster cluster(3);
  cluster.list().push_back(
      {.nickname = "beef", .id = *parse_member_id("beef"), .address = "tcp:10.0.0.3:6643"});
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 0, 2);
  };
  const Assessment found = cluster.watch(60s);
  EXPECT_TRUE(has(Code::kRaftStaleMember, found));
  EXPECT_FALSE(has(Code::kRaftLinkAsymmetric, found));
}

// Lists show four digits of an id, and a connection names no more.
TEST(LinkAsymmetric, OfTwoServersThatGoByOneNameNothingIsKnown) {
  FakeCluster cluster(3);
  cluster.list().push_back(
      {.nickname = "1430", .id = *parse_member_id("1430"), .address = "tcp:10.0.0.9:6643"});
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    shut(all, 0, 2);
  };
  EXPECT_FALSE(has(Code::kRaftLinkAsymmetric, cluster.watch(60s)));
}

TEST(LinkAsymmetric, ADeadPeerIsNotOne) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    for (const std::size_t i : {0, 1}) {
      for (Link& link : all[i].status->links)
        if (link.peer == "1430") link.up = false;
    }
  };
  EXPECT_EQ(told(cluster.watch(20s)),
            (Told{"critical RAFT_MEMBER_DOWN ctl-3", "warning RAFT_QUORUM_MARGIN"}));
}

TEST(OneWaySilence, TheLeaderDoesNotHearAFollowerThatHearsIt) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const TimePoint begun = cluster.now();
  cluster.edit = [&](std::vector<Opinion>& all) {
    all[0].status->servers[2].last_message =
        std::chrono::duration_cast<Milliseconds>(cluster.now() - begun);
  };
  EXPECT_EQ(told(cluster.watch(6s)), Told{}) << "two seconds of silence are legal, then two rounds";
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_ONE_WAY_SILENCE ctl-3"});
  EXPECT_EQ(the(Code::kRaftOneWaySilence, found).summary,
            "ctl-1 (dea6) does not hear ctl-3 (1430), which hears it");
}

// A follower whose disk is full takes everything and acknowledges nothing.
TEST(OneWaySilence, WhereBothConnectionsWorkTheServerIsLookedAtFirst) {
  FakeCluster cluster(3);
  bool joined = true;
  std::optional<TimePoint> begun;
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (Opinion& one : all) one.status->links.clear();
    if (joined) connect_all(all);
    if (begun)
      all[0].status->servers[2].last_message =
          std::chrono::duration_cast<Milliseconds>(cluster.now() - *begun);
  };
  cluster.watch(5s);
  begun = cluster.now();
  const auto advice = [&] {
    return the(Code::kRaftOneWaySilence, cluster.watch(10s)).advice->text;
  };
  EXPECT_TRUE(advice().contains("look at the disk and the log of ctl-3 (1430) first"));
  joined = false;
  EXPECT_EQ(advice(), "Check the network between the two in both directions.");
}

TEST(OneWaySilence, AFollowerThatDoesNotHearTheLeader) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const TimePoint begun = cluster.now();
  cluster.node(2).role = Role::kCandidate;
  cluster.edit = [&](std::vector<Opinion>& all) {
    all[2].status->servers[0].last_message =
        std::chrono::duration_cast<Milliseconds>(cluster.now() - begun);
  };
  EXPECT_EQ(told(cluster.watch(10s)), Told{"warning RAFT_ONE_WAY_SILENCE ctl-3"});
}

TEST(OneWaySilence, WhatWasSaidAtDifferentTimesIsNotCompared) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const std::vector<Opinion> before = cluster.opinions();
  cluster.isolate(2);
  cluster.edit = [&](std::vector<Opinion>& all) { all[2] = before[2]; };
  EXPECT_FALSE(has(Code::kRaftOneWaySilence, cluster.watch(30s)));
}

TEST(ConnectionChurn, ConnectionsThatBreakTimeAndAgain) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  std::uint64_t lost = 34'130;
  cluster.edit = [&](std::vector<Opinion>& all) {
    if (to_ms(cluster.now().time_since_epoch()) % 5000 == 0) ++lost;
    all[1].status->disconnections = lost;
  };
  cluster.watch(1s);
  EXPECT_EQ(told(cluster.watch(59s)), Told{});
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(told(found), Told{"warning RAFT_CONNECTION_CHURN ctl-2"});
  EXPECT_TRUE(the(Code::kRaftConnectionChurn, found)
                  .summary.starts_with("ctl-2 (499b) lost 12 raft connections in "));
  const std::uint64_t end = lost;
  cluster.edit = [&](std::vector<Opinion>& all) { all[1].status->disconnections = end; };
  EXPECT_EQ(told(cluster.watch(60s)), Told{});
}

// A history of disconnections says nothing, and neither does a burst (capture 08b: a paused member
// goes on).
TEST(ConnectionChurn, OneBurstIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [](std::vector<Opinion>& all) { all[1].status->disconnections = 10; };
  EXPECT_EQ(told(cluster.watch(90s)), Told{});
}

TEST(ConnectionChurn, ARestartBeginsAnew) {
  FakeCluster cluster(3);
  std::uint64_t lost = 100;
  cluster.edit = [&](std::vector<Opinion>& all) { all[1].status->disconnections = lost; };
  cluster.watch(5s);
  lost = 0;
  EXPECT_EQ(told(cluster.watch(90s)), Told{});
}

TEST(UnidentifiedPeer, OneTooMany) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    all[1].status->links.push_back({"0000", false, true});
  };
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_UNIDENTIFIED_PEER ctl-2"});
  EXPECT_EQ(the(Code::kRaftUnidentifiedPeer, found).evidence[0].says,
            "Connections: ->dea6 <-dea6 ->1430 <-1430 <-0000");
}

// Capture 14: a member that joined has identified none of its peers.
TEST(UnidentifiedPeer, WhoMayBeAMemberIsNone) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    for (Link& link : all[2].status->links) link.peer = "0000";
    all[1].status->links.pop_back();
    all[1].status->links.push_back({"0000", false, true});
  };
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
}

TEST(UnidentifiedPeer, WhileSomebodyJoinsItMayBeThatOne) {
  FakeCluster cluster(3);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "2e3dde73-c10d-493c-98ae-03173911ef81", "tcp:10.0.0.4:6643");
  cluster.node(fourth).standing = Standing::kJoining;
  cluster.edit = [](std::vector<Opinion>& all) {
    connect_all(all);
    std::erase_if(all[1].status->links, [](const Link& link) { return link.peer == "2e3d"; });
    all[1].status->links.push_back({"0000", false, true});
  };
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

}  // namespace
}  // namespace wardmote::judge::raft
