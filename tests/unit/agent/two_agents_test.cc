// What two agents on one store know of each other, and what people are told of it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "agent/coordination/coordination.h"
#include "agent/domains.h"
#include "agent/ovn/shared_servers.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/sighting.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/agent_record.h"
#include "store/embedded_store.h"
#include "unit/agent/two_lives.h"

namespace wardmote::agent {
namespace {

TEST_F(TwoAgents, WhatBecomesGoodWhileNobodyLeadsEndsSoonAfter) {
  for (const int watched_by : {1, 2}) {
    // The one that leads next watches it itself, or hears of it.
    if (watched_by == 2) begin(2);
    world.run_for(2s);
    lives[watched_by]->check("bird", true);
    world.run_for(20s);
    const int leader = watched_by - 1;
    ASSERT_TRUE(lives[leader]->leads());
    EXPECT_EQ(lives[leader]->open_roots().size(), 1U);
    kill(leader);
    lives[watched_by]->check("bird", false);
    EXPECT_TRUE(world.run_until([&] { return lives[watched_by]->leads(); }, 10s));
    EXPECT_TRUE(world.run_until([&] { return lives[watched_by]->open_roots().empty(); }, 5s));
  }
}

TEST_F(TwoAgents, AnAgentWhoseRecordsAreTakenAwayWritesThemAgain) {
  lives[1]->check("bird", true);
  world.run_for(20s);
  for (const char* const prefix : {"agents/ctl-1/", "agents/ctl-1/presence", "agents/"}) {
    lives[0]->erase(prefix);
    world.run_for(60s);
    EXPECT_TRUE(present(0, "ctl-1")) << prefix;
    EXPECT_EQ(lives[0]->open_roots(), std::set<std::string>{"check:bird@ctl-1"}) << prefix;
  }
  EXPECT_EQ(person.keys.size(), 1U) << "nobody is told of it";
}

TEST_F(TwoAgents, WhoseRecordsAreTakenAwayForGoodIsNotSaidToBeWell) {
  lives[1]->check("bird", true);
  world.run_for(20s);
  kill(1);
  world.run_for(60s);
  EXPECT_EQ(lives[0]->open_roots(), std::set<std::string>{"node:ctl-1"}) << "with what was below";
  lives[0]->erase("agents/ctl-1/");
  world.run_for(60s);
  EXPECT_TRUE(lives[0]->open_roots().empty());
  EXPECT_EQ(person.unwatched, 1);
}

TEST_F(TwoAgents, EachKnowsWhichServersTheOtherSeesAlive) {
  using judge::raft::Opinion;
  Opinion answer;
  answer.status.emplace();
  answer.status->server_id = *judge::raft::parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  const auto told = [&] { return lives[0]->sightings().besides("nb", {}, {}); };
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told().front().server, answer.status->server_id);
  EXPECT_EQ(told().front().by, "the agent on ctl-1");
  EXPECT_TRUE(lives[1]->sightings().besides("nb", {}, {}).empty()) << "nobody hears of himself";
  lives[1]->sightings().hear("nb/ctl-1", Opinion{});
  world.run_for(2s);
  ASSERT_EQ(told().size(), 1U) << "it may hang";
  EXPECT_FALSE(told().front().still);
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  EXPECT_EQ(told().size(), 1U);
  kill(1);
  world.run_for(30s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_FALSE(told().front().still) << "nothing is heard of that agent: nobody sees it now";
  begin(1);
  world.run_for(2s);
  EXPECT_TRUE(told().empty()) << "what its earlier life saw is written over";
}

// People of one rack were told of a failure in another one, and twice after a change of who leads.
TEST_F(TwoAgents, AnIncidentHasTheLabelsOfTheNodeWhereItIsWhoeverLeads) {
  world.run_for(20s);
  ASSERT_TRUE(lives[0]->leads());
  lives[1]->check("bird", true);
  world.run_for(20s);
  kill(0);
  world.run_for(30s);
  ASSERT_TRUE(lives[1]->leads());
  lives[1]->check("bird", false);
  world.run_for(20s);
  std::map<std::string, std::vector<judge::notify::Labels>> by_root;
  for (const auto& [id, notices] : person.labels) {
    for (const auto& labels : notices) by_root[labels.at("root")].push_back(labels);
  }
  const auto& told = by_root["check:bird@ctl-1"];
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].at("node"), "ctl-1");
  EXPECT_EQ(told[0].at("rack"), "of ctl-1");
  EXPECT_EQ(told[0], told[1]);
  ASSERT_FALSE(by_root["node:ctl-0"].empty());
  EXPECT_EQ(by_root["node:ctl-0"].front().at("node"), "ctl-0") << "which is gone";
}

TEST_F(TwoAgents, WhileTheStoreIsFullAFollowerSaysThatItDoesNotKnowAll) {
  world.run_for(20s);
  ASSERT_TRUE(lives[0]->leads());
  shared.fail_with(Errc::kExhausted);
  lives[0]->check("web", true);
  lives[1]->check("bird", true);
  world.run_for(3s);
  EXPECT_EQ(lives[0]->open_roots().size(), 1U) << "nor does it hear of the other";
  EXPECT_TRUE(lives[1]->open_roots().empty());
  EXPECT_TRUE(lives[1]->cut_off().value_or("").starts_with("the store is full"));
  EXPECT_FALSE(lives[0]->cut_off()) << "it says so itself";
  shared.fail_with({});
  world.run_for(5s);
  EXPECT_EQ(lives[1]->open_roots().size(), 2U);
  EXPECT_FALSE(lives[1]->cut_off());
}

TEST_F(TwoAgents, AStoreThatBeganAnewIsHeard) {
  for (int i = 0; i < 20; ++i) {
    lives[1]->check("web", i % 2 == 0);
    world.run_for(1s);
  }
  EXPECT_TRUE(lives[0]->doubts.empty() && lives[1]->doubts.empty());
  lives[0]->empty_the_store();
  world.run_for(30s);
  for (const auto& life : lives) {
    if (!life) continue;
    ASSERT_EQ(life->doubts.size(), 1U);
    EXPECT_TRUE(life->doubts[0].contains("it was emptied, or an older copy"));
  }
  EXPECT_TRUE(present(0, "ctl-1") && present(1, "ctl-0"));
  const int leader = lives[0]->leads() ? 0 : 1;
  lives[1 - leader]->check("bird", true);
  world.run_for(30s);
  EXPECT_TRUE(lives[leader]->leads());
  EXPECT_TRUE(lives[leader]->open_roots().contains("check:bird@ctl-" + std::to_string(1 - leader)));
}

/// What the others say in an older copy is not what they say now.
TEST_F(TwoAgents, NobodyIsToldWhatAnOlderCopyOfTheStoreSays) {
  for (const bool fails : {true, false}) {
    world.run_for(30s);
    const int leader = lives[0]->leads() ? 0 : 1;
    lives[leader]->copy_the_store();
    lives[1 - leader]->check("bird", fails);
    world.run_for(30s);
    ASSERT_TRUE(lives[leader]->leads());
    const std::set<std::string> before = lives[leader]->open_roots();
    ASSERT_EQ(before.size(), fails ? 1U : 0U);
    const std::size_t told = person.keys.size();
    lives[leader]->restore_the_copy();
    world.run_for(30s);
    EXPECT_EQ(person.keys.size(), told) << fails;
    EXPECT_EQ(lives[leader]->open_roots(), before);
    lives[leader]->drop_the_copy();
  }
}

TEST_F(TwoAgents, TwoOfOneNameSaySo) {
  disks[2].restart();
  SimRuntime& us = world.process("twin", "host");
  SharingLife twin(world, us, "ctl-1", disks[2], shared, person);
  world.run_for(60s);
  for (const SharingLife* const one :
       std::initializer_list<const SharingLife*>{lives[1].get(), &twin}) {
    const auto said = one->agents().isolation();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->contains("another agent calls itself 'ctl-1' too")) << *said;
  }
  EXPECT_FALSE(lives[0]->agents().isolation());
}

// Each puts what it sees in the place of what the other one sees: that one of them sees a server
// alive was lost, and the agent that leads kicked the server.
TEST_F(TwoAgents, WhatOneOfTwoOfOneNameSeesIsNotLostByTheOther) {
  using judge::raft::Opinion;
  Opinion answer;
  answer.status.emplace();
  answer.status->server_id = *judge::raft::parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  const auto told = [&] { return lives[0]->sightings().besides("nb", {}, {}); };
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  disks[2].restart();
  SimRuntime& us = world.process("twin", "host");
  const SharingLife twin(world, us, "ctl-1", disks[2], shared, person);
  world.run_for(10s);
  for (int i = 0; i < 200; ++i) {
    world.run_for(1s);
    ASSERT_FALSE(told().empty()) << "after " << i << " s";
  }
  EXPECT_EQ(told().front().by, "one of two agents called ctl-1");
  EXPECT_FALSE(told().front().server.known()) << "it may be any server";
  us.pause();
  world.run_for(4min);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told().front().by, "the agent on ctl-1") << "one is left, and is believed again";
}

// What it saw before it could not write any more is no word of now: a server that another has seen
// end was said to be heard all the same.
TEST_F(TwoAgents, AnAgentThatCannotSayWhatItSeesMayBeAnsweredByAnyServer) {
  judge::raft::Opinion answer;
  answer.status.emplace();
  answer.status->server_id = *judge::raft::parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  const auto told = [&] { return lives[0]->sightings().besides("nb", {}, {}); };
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  lives[1]->fragile.full = true;
  world.run_for(60s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_TRUE(told().front().still) << "it says the same";
  lives[1]->sightings().hear("nb/ctl-1", judge::raft::Opinion{});
  world.run_for(5s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_FALSE(told().front().server.known()) << "it says nothing";
  EXPECT_EQ(told().front().by, "the agent on ctl-1");
  lives[1]->fragile.full = false;
  world.run_for(5s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told().front().server, answer.status->server_id);
  EXPECT_FALSE(told().front().still);
}

// It could not even register: the agent that leads did not know that there is one, and kicked the
// server that it saw when etcd had room again.
TEST_F(TwoAgents, WhileTheStoreIsFullAnAgentThatNobodyKnowsMaySeeAnyServer) {
  world.run_for(20s);
  ASSERT_TRUE(lives[0]->leads());
  const auto told = [&] { return lives[0]->sightings().besides("nb", {}, {}); };
  EXPECT_TRUE(told().empty());
  lives[0]->fragile.full = true;
  world.run_for(15s);
  ASSERT_EQ(told().size(), 1U) << "it has nothing to write but that it leads";
  EXPECT_FALSE(told().front().server.known());
  EXPECT_TRUE(told().front().by.contains("full"));
  world.run_for(60s);
  lives[0]->fragile.full = false;
  world.run_for(30s);
  EXPECT_EQ(told().size(), 1U) << "the other one may need a while";
  world.run_for(60s);
  EXPECT_TRUE(told().empty());
}

// Nobody else has seen it.
TEST_F(TwoAgents, WhoBeginsAfterAnAgentIsGoneKnowsWhomItSawAliveBesideAnother) {
  const auto server = *judge::raft::parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  lives[1]->sightings().saw_beside({}, server, "tcp:10.0.0.1:6643");
  world.run_for(2s);
  kill(0);
  kill(1);
  world.run_for(60s);
  begin(2);
  world.run_for(20s);
  const auto known = lives[2]->sightings().beside();
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known.front().server, server);
  EXPECT_EQ(known.front().address, "tcp:10.0.0.1:6643");
}

TEST_F(TwoAgents, WhatAnEarlierLifeSaidOfItselfIsNoTwin) {
  kill(1);
  world.run_for(20s);
  SimRuntime& us = world.process("ctl-1 later", "host");
  disks[2].restart();
  lives[2] = std::make_unique<SharingLife>(world, us, "ctl-1", disks[2], shared, person);
  lives[2]->fragile.full = true;
  for (int i = 0; i < 180; ++i) {
    world.run_for(1s);
    const auto said = lives[2]->agents().isolation().value_or("");
    ASSERT_FALSE(said.contains("calls itself")) << said;
  }
  lives[2]->fragile.full = false;
  world.run_for(60s);
  EXPECT_FALSE(lives[2]->agents().isolation());
  EXPECT_TRUE(present(0, "ctl-1"));
}

}  // namespace
}  // namespace wardmote::agent
