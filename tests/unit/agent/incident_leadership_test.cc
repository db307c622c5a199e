// Agents share a store. One leads and makes the incidents, the other shows them.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/sim_database.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

/// One that shares `shared` with others.
struct Sharer {
  Sharer(World& in, const std::string& node, SimDisk& shared, bool leads)
      : world(in), us(in.host(node)), database(us, shared), leadership(leads) {
    EXPECT_TRUE(run_task(world, us, own.open()));
    EXPECT_TRUE(run_task(world, us, store.open()));
    manager = std::make_unique<incidents::IncidentManager>(us, &store, leadership, config, node,
                                                           feed, incidents::NotifierOptions(),
                                                           depends_of(domains()), &own);
    feed.listen([this](const Change& change, const serve::ChangeText& text) {
      manager->hear(change);
      told.push_back(text.kind);
    });
    manager->publish([this](const auto& symptoms) { published = symptoms; });
    EXPECT_TRUE(run_task(world, us, manager->open()));
  }
  ~Sharer() { world.run(us, manager->stop()); }

  void check(const std::string& name, State from, State to) {
    feed.tell({ThingKind::kCheck, name},
              judge::CheckChanged{from, to, {judge::ReasonCode::kRefused, "refused"}, true, true});
  }
  [[nodiscard]] bool told_of_incidents() const {
    return std::ranges::any_of(
        told, [](const std::string& kind) { return kind.starts_with("incident_"); });
  }
  [[nodiscard]] std::size_t open() const { return manager->open_incidents().open; }

  World& world;
  SimRuntime& us;
  SimDisk disk;
  SimDatabase own_database{us, disk};
  store::EmbeddedStore own{us, own_database, "boot"};
  SimDatabase database;
  store::EmbeddedStore store{us, database, "boot", {.look_every = 500ms}};
  act::FakeLeadership leadership;
  config::Config config = sample_config();
  incidents::ChangeFeed feed{[this] { return us.wall_now(); }};
  std::unique_ptr<incidents::IncidentManager> manager;
  std::vector<std::string> told;
  std::vector<judge::incident::Symptom> published;
};

class IncidentLeadership : public IncidentManagerTest {
 protected:
  static std::vector<std::string> owners(const Sharer& agent) {
    std::vector<std::string> all;
    for (const judge::incident::Symptom& symptom : agent.published) all.push_back(symptom.owner);
    return all;
  }
};

TEST_F(IncidentLeadership, WhoLeadsMakesNoIncidentBeforeItHasReadTheOthers) {
  Sharer agent(world, "us", disk, true);
  agent.check("bird", kError, kReported);
  world.run_for(1min);
  EXPECT_EQ(agent.open(), 0U) << "nobody said that it begins to lead";
  agent.leadership.win();
  EXPECT_EQ(agent.manager->acknowledge(1, "ann", "").error().code, Errc::kRejected)
      << "it has not read yet";
  world.run_for(1s);
  EXPECT_EQ(agent.open(), 1U);
}

TEST_F(IncidentLeadership, WhoFollowsShowsWhatTheOtherWritesAndTellsNothing) {
  Sharer leader(world, "us", disk, false);
  Sharer follower(world, "them", disk, false);
  leader.leadership.win();
  world.run_for(1s);
  leader.check("bird", kError, kReported);
  world.run_for(5s);
  ASSERT_EQ(follower.open(), 1U);
  EXPECT_FALSE(follower.told_of_incidents());
  EXPECT_FALSE(follower.manager->held("nb"));
}

TEST_F(IncidentLeadership, AReloadEndsWhatIsGoneWhereItLeadsAndTellsNothingWhereItFollows) {
  Sharer leader(world, "us", disk, false);
  Sharer follower(world, "them", disk, false);
  leader.leadership.win();
  world.run_for(1s);
  for (Sharer* const agent : {&leader, &follower}) {
    agent->check("bird", kError, kReported);
    agent->check("peer", kError, kReported);
  }
  leader.manager->hear_peer("them", follower.published);
  world.run_for(5s);
  const std::size_t open = leader.open();
  ASSERT_EQ(follower.open(), open);
  ASSERT_EQ(owners(follower), (std::vector<std::string>{"check:bird@them", "check:peer@them"}));
  follower.manager->reload({.gone = {"check:bird@them"}, .replaced = {}});
  EXPECT_EQ(owners(follower), std::vector<std::string>{"check:peer@them"});
  EXPECT_FALSE(follower.told_of_incidents());
  leader.told.clear();
  leader.manager->reload({.gone = {"check:bird@us", "check:peer@us"}, .replaced = {}});
  EXPECT_TRUE(owners(leader).empty());
  EXPECT_TRUE(leader.told_of_incidents());
}

TEST_F(IncidentLeadership, WhatAnotherHasEndedMeanwhileIsNotHeldAnyMore) {
  Sharer agent(world, "us", disk, false);
  agent.leadership.win();
  world.run_for(1s);
  judge::Finding finding;
  finding.code = Code::kRaftMemberDown;
  finding.severity = Severity::kCritical;
  finding.subjects = {"a"};
  finding.summary = "so it is";
  const judge::ThingId cluster{ThingKind::kCluster, "nb"};
  const auto [owner, component] = place_of(cluster, finding);
  agent.feed.tell(cluster, judge::FindingChanged{kRaised, finding, us.now(), owner, component});
  world.run_for(1s);
  ASSERT_EQ(agent.open(), 1U);
  agent.leadership.lose();
  agent.feed.tell(cluster, judge::FindingChanged{kCleared, finding, us.now(), owner, component});
  agent.leadership.win();
  world.run_for(1s);
  ASSERT_TRUE(agent.manager->held("nb")) << "written by somebody, and not seen again";
  agent.leadership.lose();
  disk.rows("UPDATE store_meta SET revision = revision + 1");
  disk.rows("DELETE FROM store_kv WHERE key LIKE 'incident/%'");
  agent.leadership.win();
  world.run_for(1s);
  agent.manager->seen_well("nb", kShownAtOnce);
  EXPECT_FALSE(agent.manager->held("nb"));
}

/// A store on a disk that is so full that nothing can even be read.
class UnreadableStore final : public store::Store {
 public:
  explicit UnreadableStore(store::Store& store) : store_(store) {}

  runtime::Task<Result<store::Found>> get(std::string, runtime::Deadline) override {
    co_return fail(Errc::kExhausted, "full");
  }
  runtime::Task<Result<store::Snapshot>> list(store::KeyRange keys,
                                              runtime::Deadline deadline) override {
    if (keys.begin.starts_with("incident/")) co_return fail(Errc::kExhausted, "full");
    auto found = co_await store_.list(std::move(keys), deadline);
    co_return found;
  }
  runtime::Task<Result<store::Committed>> put_if(store::Transaction, runtime::Deadline) override {
    co_return fail(Errc::kExhausted, "full");
  }
  std::unique_ptr<store::Watch> watch(store::KeyRange keys, store::Revision from) override {
    return store_.watch(std::move(keys), from);
  }
  runtime::Task<Result<store::Lease>> grant(Duration, runtime::Deadline) override {
    co_return fail(Errc::kExhausted, "full");
  }
  runtime::Task<Result<store::Lease>> keep_alive(store::LeaseId, runtime::Deadline) override {
    co_return fail(Errc::kExhausted, "full");
  }
  runtime::Task<Result<void>> revoke(store::LeaseId, runtime::Deadline) override {
    co_return fail(Errc::kExhausted, "full");
  }

 private:
  store::Store& store_;
};

TEST_F(IncidentLeadership, LivesThatCanReadNothingGiveNumbersThatNoOtherGives) {
  std::vector<std::int64_t> given;
  SimDatabase database(us, disk);
  store::EmbeddedStore below(us, database, "boot");
  ASSERT_TRUE(run_task(world, us, below.open()));
  for (int i = 0; i < 2; ++i) {
    UnreadableStore store(below);
    store::SoleLeadership alone(us, nullptr);
    const config::Config config = sample_config();
    incidents::ChangeFeed feed([this] { return us.wall_now(); });
    incidents::IncidentManager manager(us, &store, alone, config, "us", feed,
                                       incidents::NotifierOptions(), depends_of(domains()));
    ASSERT_TRUE(run_task(world, us, manager.open()));
    manager.hear({.at = us.wall_now(),
                  .of = {ThingKind::kCheck, "bird"},
                  .event = judge::CheckChanged{
                      kError, kReported, {judge::ReasonCode::kRefused, "refused"}, true, true}});
    given.push_back(manager.book().last_number());
    world.run_for(10s);
    world.run(us, manager.stop());
  }
  EXPECT_GT(given[0], 1000);
  EXPECT_GT(given[1], given[0]);
}

}  // namespace
}  // namespace wardmote::agent
