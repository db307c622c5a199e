// Whom nobody may advise to remove: who is known to others than the members, or by another name,
// or has an address that another server claims.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"
#include "unit/judge/raft/removal_fixture.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

// Another cluster of the configuration had it as a member.
TEST(Removal, WhoAnswersSomebodyElseIsNotDead) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  cluster.elsewhere = {{*parse_member_id(kStranger), {}, "old/ctl-9", cluster.now(), true}};
  cluster.watch(5s);
  cluster.isolate(stranger);
  for (int i = 0; i < 20; ++i) {
    cluster.elsewhere.front().at = cluster.now();
    expect_spared(cluster, cluster.watch(60s), "7b3a");
  }
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.look())) << "it is only cut off";
  EXPECT_EQ(objection_of(cluster, "7b3a"), "Do not remove 7b3a: it answers old/ctl-9.");
  // Its process may hang.
  cluster.elsewhere.front().still = false;
  const TimePoint last = cluster.now();
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_EQ(objection_of(cluster, "7b3a"),
            "Do not remove 7b3a: it answered old/ctl-9, and does not answer there now.");
  cluster.elsewhere.clear();
  cluster.watch(20min);
  const RepairView view = cluster.repair_view();
  EXPECT_EQ(view.find(*parse_member_id("7b3a"))->objection, std::nullopt);
  EXPECT_GE(view.find(*parse_member_id("7b3a"))->silent_since, last);
}

// Of two agents one looks at it by a way that is closed now, and has said so last.
TEST(Removal, WhomSomebodySeesAliveIsAliveWhateverAnotherSaysLater) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  const MemberId id = *parse_member_id(kStranger);
  cluster.elsewhere = {{id, {}, "the agent on ctl-8", cluster.now(), true},
                       {id, {}, "the agent on ctl-9", cluster.now() + 1min, false}};
  cluster.watch(5s);
  cluster.isolate(stranger);
  for (int order = 0; order < 2; ++order) {
    const Assessment look = cluster.watch(20min);
    expect_spared(cluster, look, "7b3a");
    EXPECT_FALSE(has(Code::kRaftDeadMember, look)) << "it is only cut off";
    EXPECT_EQ(objection_of(cluster, "7b3a"), "Do not remove 7b3a: it answers the agent on ctl-8.");
    std::ranges::reverse(cluster.elsewhere);
  }
}

// Two agents look at all members, and one has ended. It is no silence of theirs that both are
// refused, but whoever looks there has told us that it is meant to be there.
TEST(Removal, TheSilenceOfWhoIsRefusedElsewhereCountsAndItIsNotRemoved) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(stranger);
  const TimePoint death = cluster.now();
  Sighting refused{*parse_member_id(kStranger), {}, "the agent on ctl-9", death, false};
  Sighting nameless{{}, {}, "check nb", {}, false, "OVN_Northbound"};
  refused.refused = nameless.refused = true;
  const auto silent_for = [&] {
    cluster.watch(20min);
    const RepairView view = cluster.repair_view();
    return cluster.now() - *view.find(*parse_member_id("7b3a"))->silent_since;
  };
  cluster.elsewhere = {nameless, refused};
  expect_spared(cluster, cluster.watch(1min), "7b3a");
  EXPECT_GE(silent_for(), 20min);
  EXPECT_EQ(objection_of(cluster, "7b3a"),
            "Do not remove 7b3a: it answered the agent on ctl-9, and does not answer there now.");
  for (const std::size_t waiting : {0U, 1U}) {
    cluster.elsewhere[waiting].refused = false;
    EXPECT_LT(silent_for(), 1min) << "it may hang";
    EXPECT_TRUE(cluster.repair_view().find(*parse_member_id("7b3a"))->awaited);
    cluster.elsewhere[waiting].refused = true;
  }
}

// It was stopped when the agent began, so that nobody knows which server the other check asks.
TEST(Removal, WhomSomebodyAsksInVainMayBeIt) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  cluster.kill(stranger);
  cluster.elsewhere = {{{}, {}, "check nb", {}, false, "OVN_Northbound"}};
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_EQ(objection_of(cluster, "7b3a"),
            "Do not remove 7b3a: it may be the server of check nb, which has not said who it is.");
  // Its agent begins anew, and has said nothing yet.
  cluster.elsewhere.front().database = "OVN_Southbound";
  expect_spared(cluster, cluster.watch(9min), "7b3a");
  cluster.watch(2min);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

// Somebody wrote the name of its host where the list has the number.
TEST(Removal, WhileAnExpectedAddressIsInNoListNobodyIsRemoved) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  for (int i = 0; i < 4; ++i) cluster.expectation.addresses.push_back(cluster.node(i).address);
  cluster.expectation.addresses.emplace_back("tcp:host-9:6643");
  cluster.kill(stranger);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("tcp:host-9:6643 is expected, nobody"));
  cluster.expectation.addresses.pop_back();
  cluster.watch(1s);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

// A ghost has the expected spelling, and the one that lived there last is listed with another.
TEST(Removal, AGhostAtAnExpectedAddressDoesNotTakeItsPlace) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  const std::size_t ghost = cluster.add_node("", kSuccessor, "tcp:host-9:6643");
  cluster.node(ghost).configured = false;
  cluster.enlist(ghost);
  for (int i = 0; i < 4; ++i) cluster.expectation.addresses.push_back(cluster.node(i).address);
  cluster.expectation.addresses.emplace_back("tcp:host-9:6643");
  cluster.kill(ghost);
  cluster.watch(20min);
  cluster.kill(stranger);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("tcp:host-9:6643 is expected, nobody"));
}

/// Node 3 joins with the address of the server `owner`, which has it, so that it listens nowhere.
std::size_t join_with_a_taken_address(FakeCluster& cluster, std::size_t owner) {
  const std::size_t liar = cluster.add_node("ctl-5", kSuccessor, cluster.node(owner).address);
  cluster.enlist(liar);
  cluster.node(liar).links = {{short_name(cluster.node(0).id), true, true}};
  return liar;
}

TEST(Removal, WhoJoinedWithATakenAddressDoesNotMakeItsOwnerAGhost) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  join_with_a_taken_address(cluster, owner);
  cluster.kill(owner);
  const Assessment look = cluster.watch(20min);
  expect_spared(cluster, look, "7b3a");
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("not all others have a connection to it"))
      << finding.summary;
  EXPECT_TRUE(finding.advice->text.contains("Remove none of them")) << finding.advice->text;
}

/// Before an agent that knows nothing looks: ctl-3 goes down with all its data, and ctl-2, which
/// was wiped, joins with its address by mistake.
void steal_the_address(FakeCluster& cluster) {
  cluster.kill(2);
  cluster.node(1).id = *parse_member_id(kSuccessor);
  cluster.node(1).address = cluster.node(2).address;
  cluster.enlist(1);
}

TEST(Removal, WhoseAddressWasTakenMayBeAMemberThatIsDown) {
  FakeCluster cluster(5);
  steal_the_address(cluster);
  const Assessment look = cluster.watch(20min);
  expect_spared(cluster, look, short_name(cluster.node(2).id));
  EXPECT_EQ(objection_of(cluster, short_name(cluster.node(2).id)),
            "Do not remove 1430: it may be ctl-3, and nobody knows which server that was.");
}

TEST(Removal, WhoseAddressWasTakenIsNobodyWhenAllMembersAreKnown) {
  FakeCluster cluster(5);
  steal_the_address(cluster);
  const std::string former = short_name(cluster.node(2).id);
  cluster.watch(20s);
  cluster.node(2).id = *parse_member_id("e1a00000-dac6-4762-a00e-834c7c7479df");
  cluster.node(2).address = "tcp:10.0.0.2:6643";
  cluster.enlist(2);
  cluster.heal(2);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(20min);
  EXPECT_EQ(objection_of(cluster, former), "none") << "ctl-3 is known as another server now";
}

// A host has the address of another one too: who runs on it connects to the wrong server there.
TEST(Removal, WhomNotAllOthersConnectToIsNotAtTheAddress) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  const std::size_t liar = join_with_a_taken_address(cluster, owner);
  for (const char* const caller : {"0000", "0000", "0000"}) {
    cluster.node(liar).links.push_back({caller, false, true});
    cluster.kill(owner);
    const Assessment look = cluster.watch(20min);
    expect_spared(cluster, look, "7b3a");
    EXPECT_TRUE(the(Code::kRaftStaleMember, look)
                    .summary.contains("not all others have a connection to it"));
  }
  cluster.node(liar).links.push_back({"0000", false, true});
  cluster.watch(20min);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

// The owner hangs: its kernel accepts connections, which are closed after two probes and made
// again.
TEST(Removal, WhoseAddressIsThatOfOneThatHangsIsNotThere) {
  for (const bool hangs : {true, false}) {
    FakeCluster cluster(4);
    const std::size_t owner = add_stranger(cluster);
    cluster.kill(owner);
    cluster.watch(5s);
    const std::size_t liar = join_with_a_taken_address(cluster, owner);
    for (int i = 0; i < 4; ++i) cluster.node(liar).links.push_back({"0000", false, true});
    cluster.edit = [&](std::vector<Opinion>& all) {
      const auto second =
          std::chrono::floor<std::chrono::seconds>(cluster.now().time_since_epoch());
      const bool accepted = !hangs || second.count() % 13 < 11;
      for (std::size_t i = 0; i < 4; ++i) all[i].status->links = {{"7b3a", true, accepted}};
    };
    int ghosts = 0;
    for (int i = 0; i < 60; ++i) {
      const Assessment look = cluster.watch(1s);
      if (!has(Code::kRaftStaleMember, look)) continue;
      ghosts += the(Code::kRaftStaleMember, look).summary.contains("a ghost") ? 1 : 0;
    }
    EXPECT_EQ(ghosts > 0, !hangs) << ghosts;
  }
}

// Programs that check whether somebody listens hold connections to it, and no server has one.
TEST(Removal, WhomOnlyStrangersReachIsNotThere) {
  for (const bool told : {true, false}) {
    FakeCluster cluster(4);
    const std::size_t owner = add_stranger(cluster);
    cluster.kill(owner);
    cluster.watch(5s);
    const std::size_t liar = join_with_a_taken_address(cluster, owner);
    cluster.node(liar).links = {
        {"0000", false, true}, {"0000", false, true}, {"0000", false, true}, {"0000", false, true}};
    // The report of one that cannot connect, or none that says it can.
    cluster.edit = [&](std::vector<Opinion>& all) {
      for (std::size_t i = 0; i < 4; ++i) {
        all[i].status->links.clear();
        if (told) all[i].status->links.push_back({"7b3a", true, i != 1});
        if (!told) all[i].status->links = {{"0000", true, true}, {"0000", true, true}};
      }
    };
    const Assessment look = cluster.watch(60s);
    expect_spared(cluster, look, "7b3a");
    EXPECT_TRUE(the(Code::kRaftStaleMember, look)
                    .summary.contains("not all others have a connection to it"));
  }
}

// Only connections show who lives, and those of both are printed with four digits.
TEST(Removal, WhereNoAgesArePrintedWhoseIdBeginsAsAnotherMayLive) {
  for (const std::string digits : {"dea6", "7b3a"}) {
    FakeCluster cluster(4);
    cluster.edit = [](std::vector<Opinion>& all) {
      for (Opinion& opinion : all) {
        for (Server& server : opinion.status->servers) server.last_message.reset();
      }
    };
    const std::string former = digits + "ffff-dac6-4762-a00e-834c7c7479df";
    cluster.node(3).id = *parse_member_id(former);
    cluster.list()[3].nickname = digits;
    cluster.list()[3].id = *parse_member_id(digits);
    cluster.watch(5s);
    cluster.node(3).id = *parse_member_id(kSuccessor);
    cluster.enlist(3);
    cluster.watch(60s);
    const std::string objection = objection_of(cluster, former);
    const bool doubtful = objection.contains("whose id begins alike");
    EXPECT_EQ(doubtful, digits == "dea6") << objection;
  }
}

// When the owner has died, the other one listens there at last.
TEST(Removal, WhoWasAliveBesideAnotherAtItsAddressIsNoGhost) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  cluster.watch(5s);
  const std::size_t liar = join_with_a_taken_address(cluster, owner);
  cluster.watch(5s);
  cluster.kill(owner);
  cluster.node(liar).links.clear();
  const Assessment look = cluster.watch(20min);
  expect_spared(cluster, look, "7b3a");
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("two of them seem to have been alive at once"))
      << finding.summary;
}

TEST(Removal, WhereNoAgesArePrintedAConnectionShowsWhoIsAliveBesideAnother) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  bool connected = true;
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) {
      if (!opinion.status) continue;
      for (Server& server : opinion.status->servers) server.last_message.reset();
    }
    if (connected) all[0].status->links.push_back({"7b3a", false, true});
  };
  cluster.watch(5s);
  join_with_a_taken_address(cluster, owner);
  cluster.watch(10s);
  cluster.kill(owner);
  connected = false;
  const Assessment look = cluster.watch(20min);
  expect_spared(cluster, look, "7b3a");
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("two of them seem to have been alive at once"))
      << finding.summary;
}

// It was wiped and joined anew, and another agent, which looks seldom, said a little later that the
// old one still answers.
TEST(Removal, WhatAnotherAgentSaysLateDoesNotMakeAGhostAliveBesideItsTwin) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  const MemberId old = cluster.node(3).id;
  cluster.node(3).id = *parse_member_id(kSuccessor);
  cluster.enlist(3);
  cluster.watch(5s);
  cluster.elsewhere = {{.server = old,
                        .by = "the agent on ctl-2",
                        .at = cluster.now(),
                        .still = true,
                        .told = true}};
  cluster.watch(5s);
  cluster.elsewhere.clear();
  const Assessment look = cluster.watch(60s);
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("a ghost")) << finding.summary;
}

// That other agent's word is old, and this one has just begun: it has never seen the old one alive.
TEST(Removal, WhatAnotherAgentStillSaysDoesNotMakeAGhostAliveBesideItsTwinForANewAgent) {
  FakeCluster cluster(4);
  const MemberId old = cluster.node(3).id;
  cluster.kill(3);
  cluster.sleep(60s);
  cluster.heal(3);
  cluster.node(3).id = *parse_member_id(kSuccessor);
  cluster.enlist(3);
  cluster.elsewhere = {{.server = old,
                        .by = "the agent on ctl-2",
                        .at = cluster.now(),
                        .still = true,
                        .told = true}};
  cluster.watch(60s);
  cluster.elsewhere.clear();
  const Assessment look = cluster.watch(12min);
  const Finding& finding = the(Code::kRaftStaleMember, look);
  EXPECT_TRUE(finding.summary.contains("a ghost")) << finding.summary;
}

// It moved, another joined at its address, and it is paused when the agent begins, or looks again.
TEST(Removal, WhoMayHaveLivedBesideItsTwinBeforeTheAgentLookedIsWaitedFor) {
  for (const bool knew : {false, true}) {
    FakeCluster cluster(4);
    const MemberId old = cluster.node(3).id;
    if (knew) cluster.watch(30s);
    cluster.sleep(60s);
    cluster.node(3).id = *parse_member_id(kSuccessor);
    cluster.enlist(3);
    const std::size_t moved = cluster.add_node("", to_string(old), cluster.node(3).address);
    cluster.node(moved).configured = false;
    cluster.kill(moved);
    cluster.sleep(2s);
    const Assessment look = cluster.watch(9min);
    expect_spared(cluster, look, short_name(old));
    EXPECT_TRUE(the(Code::kRaftStaleMember, look).summary.contains("whether it runs elsewhere"));
    EXPECT_EQ(objection_of(cluster, short_name(old)).contains("it may come back until"), true);
    cluster.watch(2min);
    EXPECT_EQ(objection_of(cluster, short_name(old)), "none");
  }
}

TEST(Removal, WhoAnsweredACheckBesideAnotherAtItsAddressIsNoGhost) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  cluster.kill(owner);
  cluster.watch(5s);
  join_with_a_taken_address(cluster, owner);
  for (int i = 0; i < 4; ++i) cluster.node(4 + 1).links.push_back({"0000", false, true});
  cluster.watch(5s);
  cluster.elsewhere = {{.server = *parse_member_id(kStranger), .by = "check nb", .still = true}};
  for (int i = 0; i < 5; ++i) {
    cluster.elsewhere.front().at = cluster.now();
    cluster.watch(1s);
  }
  cluster.elsewhere.clear();
  const Finding& finding = the(Code::kRaftStaleMember, cluster.watch(20min));
  EXPECT_TRUE(finding.summary.contains("two of them seem to have been alive at once"))
      << finding.summary;
}

// The agent began after they had been seen so, by its earlier life or by another agent.
TEST(Removal, WhoIsKnownToHaveBeenAliveBesideAnotherIsNoGhost) {
  for (const std::string& known : {std::string(kStranger), kSuccessor, std::string("7b3a")}) {
    FakeCluster cluster(4);
    const std::size_t owner = add_stranger(cluster);
    const std::size_t liar = join_with_a_taken_address(cluster, owner);
    cluster.node(liar).links.clear();
    cluster.kill(owner);
    cluster.elsewhere = {
        {.server = *parse_member_id(known), .cluster = cluster.node(0).cluster_id, .beside = true}};
    const Assessment look = cluster.watch(20min);
    expect_spared(cluster, look, "7b3a");
    EXPECT_TRUE(the(Code::kRaftStaleMember, look).advice->text.contains("Remove none of them"));
  }
}

// It hangs, and another has begun at its address.
TEST(Removal, AGhostThatAnsweredSomebodyElseIsWaitedFor) {
  FakeCluster cluster(4);
  const std::size_t owner = add_stranger(cluster);
  cluster.elsewhere = {{*parse_member_id(kStranger), {}, "check nb", cluster.now(), false}};
  cluster.watch(5s);
  cluster.kill(owner);
  cluster.watch(5s);
  const std::size_t heir = cluster.add_node("ctl-5", kSuccessor, cluster.node(owner).address);
  cluster.enlist(heir);
  expect_spared(cluster, cluster.watch(60s), "7b3a");
  EXPECT_EQ(objection_of(cluster, "7b3a"),
            "Do not remove 7b3a: it answered check nb, and does not answer there now.");
  // The agent restarts: the check has not looked yet, and nobody knows whom it asks.
  cluster.elsewhere = {{{}, {}, "check nb", {}, false, "OVN_Northbound"}};
  expect_spared(cluster, cluster.watch(60s), "7b3a");
  EXPECT_EQ(objection_of(cluster, "7b3a"),
            "Do not remove 7b3a: it may be the server of check nb, which has not said who it is.");
  cluster.elsewhere.clear();
  cluster.watch(1s);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

// Of the dead one the list shows four digits, which the one that answers has too.
TEST(Removal, WhoAnswersElsewhereAtItsOwnAddressIsNobodyElse) {
  FakeCluster cluster(4);
  const std::size_t dead = add_stranger(cluster);
  const std::string double_id = "7b3affff-dac6-4762-a00e-834c7c7479df";
  const std::size_t live = cluster.add_node("other", double_id, "tcp:10.0.0.10:6643");
  cluster.node(live).configured = false;
  const Server dead_line = cluster.list().back();
  cluster.enlist(live);
  cluster.list().push_back(dead_line);
  cluster.elsewhere = {{*parse_member_id(double_id),
                        {},
                        "check nb",
                        cluster.now(),
                        true,
                        "",
                        false,
                        "tcp:10.0.0.10:6643"}};
  cluster.kill(dead);
  EXPECT_TRUE(has(Code::kRaftDeadMember, cluster.watch(60s)));
  // Who does not say where it is may be either of them.
  cluster.elsewhere.front().address.clear();
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.watch(60s)));
  // So may one whose address is in no list.
  cluster.elsewhere.front().address = "tcp:10.0.0.11:6643";
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.watch(60s)));
}

TEST(Removal, AServerOfAnotherClusterWhoseIdBeginsAlikeIsNoSignOfLife) {
  FakeCluster cluster(4);
  const std::size_t stranger = add_stranger(cluster);
  cluster.elsewhere = {{*parse_member_id("7b3affff-dac6-4762-a00e-834c7c7479df"),
                        *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174"), "sb/ctl-9",
                        cluster.now(), true}};
  cluster.watch(5s);
  cluster.kill(stranger);
  EXPECT_TRUE(has(Code::kRaftDeadMember, cluster.watch(60s)));
}

}  // namespace
}  // namespace wardmote::judge::raft
