#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/repair/hands.h"
#include "agent/change_feed.h"
#include "agent/foreman.h"
#include "judge/plan/plan.h"
#include "judge/raft/survey.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/journal.h"

namespace wardmote::agent {
namespace {

using judge::plan::Plan;
using judge::plan::PlanState;
using judge::plan::StepKind;
using judge::raft::MemberId;
using judge::raft::Survey;
using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

MemberId id_of(std::string_view text) {
  return judge::raft::parse_member_id(text).value_or(MemberId{});
}

const std::string kOld = "11112222-0000-4000-8000-000000000003";
const std::string kNew = "aaaabbbb-0000-4000-8000-000000000009";

/// The servers, which outlive every agent: ctl-3 is down at first.
struct FakeSite {
  bool listed = true;      ///< the former server of ctl-3
  bool joined = false;     ///< ctl-3 has begun anew
  bool other_ill = false;  ///< ctl-2 is not well
  TimePoint ill_since;
  int copies = 0;
  int kicks = 0;
  int rejoins = 0;

  [[nodiscard]] Survey survey(TimePoint now) const {
    Survey seen;
    seen.begun = now;
    seen.leader = "ctl-1";
    seen.committed = 10;
    add(seen, "ctl-1", id_of("0001"), true);
    add(seen, "ctl-2", id_of("0002"), !other_ill);
    if (listed) add(seen, "ctl-3", id_of(kOld), false);
    if (joined) add(seen, "ctl-3", id_of(kNew), true);
    seen.servers.front().leads = true;
    seen.needed = seen.voters / 2 + 1;
    seen.members = {{"ctl-1", true, false, false, id_of("0001")},
                    {"ctl-2", !other_ill, false, other_ill, id_of("0002")},
                    {"ctl-3", joined, false, !joined, joined ? id_of(kNew) : MemberId{}}};
    return seen;
  }
  [[nodiscard]] std::vector<judge::Finding> findings(TimePoint since) const {
    if (joined) return {};
    judge::Finding down;
    down.code = judge::Code::kRaftMemberDown;
    down.subjects = {"ctl-3"};
    down.summary = "ctl-3 is down";
    down.since = since;
    return {down};
  }

 private:
  static void add(Survey& seen, std::string name, MemberId id, bool well) {
    judge::raft::ListedServer server;
    server.id = id;
    server.address = "tcp:" + name;
    server.member = std::move(name);
    server.answers = server.acknowledges = well;
    server.match_index = 10;
    seen.servers.push_back(std::move(server));
    ++seen.voters;
    seen.acknowledging += well ? 1 : 0;
  }
};

/// Does what it is told at some moment, also when whoever told it is dead by then or not any more
/// there to hear of it.
class FakeHands final : public act::repair::Hands {
 public:
  FakeHands(World& world, SimRuntime& host, SimDisk& disk, FakeSite& site)
      : world_(world), host_(host), disk_(disk), site_(site) {}

  Task<Result<std::string>> act(act::repair::Deed deed) override {
    const Duration way(host_.random() % 300'000'000);
    // A program that was started goes on when whoever started it dies, or dies with it.
    const bool outlives = host_.random() % 2 == 0;
    const StepKind kind = deed.kind;
    if (outlives) {
      world_.schedule(world_.now() + way, [&world = world_, &disk = disk_, &site = site_, kind] {
        do_it(world.now(), disk, site, kind);
      });
    }
    co_await host_.sleep_until(host_.now() + way);
    if (!outlives) do_it(world_.now(), disk_, site_, kind);
    co_await host_.sleep_until(host_.now() + way);
    co_return std::string("it was done");
  }

 private:
  static void do_it(TimePoint now, SimDisk& disk, FakeSite& site, StepKind kind) {
    const std::string step(to_string(kind));
    EXPECT_FALSE(
        disk.rows("SELECT 1 FROM journal WHERE kind = 'intent' AND step = '" + step + "'").empty())
        << step << " without an intent";
    EXPECT_TRUE(!site.other_ill || now - site.ill_since < 6s)
        << step << " while another member was ill";
    if (kind == StepKind::kCopyDatabase) ++site.copies;
    if (kind == StepKind::kKick) {
      EXPECT_GT(site.copies, 0) << "kicked without a copy";
      site.kicks += site.listed ? 1 : 0;
      site.listed = false;
    }
    if (kind == StepKind::kRejoin) {
      EXPECT_FALSE(site.listed) << "joined while it was listed";
      EXPECT_FALSE(site.joined) << "joined twice";
      ++site.rejoins;
      site.joined = true;
    }
  }

  World& world_;
  SimRuntime& host_;
  SimDisk& disk_;
  FakeSite& site_;
};

config::Config sample_config() {
  config::Config config;
  config.data = "/var/lib/wardmote";
  config::Cluster cluster;
  cluster.name = "ovn-nb";
  cluster.expectation.database = "OVN_Northbound";
  for (const char* const name : {"ctl-1", "ctl-2", "ctl-3"}) {
    config::Member member;
    member.name = name;
    member.repair = {{"/copy"}, {"/rejoin"}, 2min};
    cluster.members.push_back(std::move(member));
  }
  config.clusters.push_back(std::move(cluster));
  judge::plan::Policy policy;
  policy.name = "rebuild";
  policy.on = {judge::Code::kRaftMemberDown};
  policy.act = true;
  policy.budget = 100;
  policy.cooldown = 0s;
  config.policies.push_back(std::move(policy));
  return config;
}

/// One life of an agent's foreman on a disk that outlives it.
class Life {
 public:
  Life(World& world, SimRuntime& host, SimDisk& disk, FakeSite& site)
      : world_(world),
        us_(host),
        disk_(disk),
        site_(site),
        hands_(world, host, disk, site),
        foreman_(host, &database_, config_, feed_, hands_,
                 {.look = [](const std::string&) {},
                  .storm = [] { return false; },
                  .incident = [](const std::string&) { return 0; }}) {
    disk_.restart();
    const Result<void> opened = run_task(world_, us_, foreman_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    if (disk_.died()) disk_.bury();
    world_.run(us_, foreman_.stop());
  }

  void look(TimePoint since) {
    foreman_.heard("ovn-nb", site_.findings(since), site_.survey(us_.now()));
  }
  /// What a person does who is asked.
  void rule() {
    const std::vector<std::int64_t> ids = waiting();
    for (const std::int64_t id : ids) {
      const auto& plan = foreman_.planner().plans().at(id);
      // He looks first: a member that has joined must not be told to once more.
      if (plan.state == PlanState::kUnclear && site_.joined) {
        (void)foreman_.reject(id, "ann", "it has joined");
      } else {
        (void)foreman_.approve(id, "ann", "");
      }
    }
  }
  [[nodiscard]] bool over() const {
    if (foreman_.planner().plans().empty()) return false;
    const PlanState last = foreman_.planner().plans().rbegin()->second.state;
    return site_.joined && (last == PlanState::kDone || last == PlanState::kRejected);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> waiting() const {
    std::vector<std::int64_t> ids;
    for (const auto& [id, plan] : foreman_.planner().plans()) {
      if (plan.state == PlanState::kProposed || plan.state == PlanState::kUnclear)
        ids.push_back(id);
    }
    return ids;
  }

  World& world_;
  SimRuntime& us_;
  SimDisk& disk_;
  FakeSite& site_;
  const config::Config config_ = sample_config();
  ChangeFeed feed_{[this] { return us_.wall_now(); }};
  SimDatabase database_{us_, disk_};
  FakeHands hands_;
  Foreman foreman_;
};

/// A member is rebuilt while the agent dies at any write and at any time, and others fall ill.
class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    disk_.set_latency(Duration(sim_.random().below(20'000'000)));
    begin_life();
  }

  void play() {
    for (int i = 0; i < 400 && !life_->over(); ++i) {
      if (i < 200) happen();
      if (i == 200) site_.other_ill = false;
      if (sim_.run_until([&] { return disk_.died(); }, 500ms)) die();
      life_->look(since_);
      if (sim_.random().chance(0.3)) life_->rule();
    }
  }

  void verify() {
    EXPECT_TRUE(life_->over());
    EXPECT_TRUE(site_.joined);
    EXPECT_FALSE(site_.listed);
    EXPECT_EQ(site_.kicks, 1);
    EXPECT_EQ(site_.rejoins, 1);
    life_.reset();
    disk_.restart();
    SimDatabase database(us_, disk_);
    const auto verdict = run_task(sim_, us_, store::verify_journal(&us_, &database));
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_FALSE(verdict->fault) << *verdict->fault;
  }

 private:
  void begin_life() { life_ = std::make_unique<Life>(sim_, us_, disk_, site_); }
  void die() {
    life_.reset();
    sim_.run_for(Duration(sim_.random().below(20'000'000'000)));
    begin_life();
  }
  void happen() {
    switch (sim_.random().below(20)) {
      case 0:
      case 1: disk_.die_before(1 + sim_.random().below(8)); break;
      case 2: die(); break;
      case 3:
        if (!site_.other_ill) site_.ill_since = sim_.now();
        site_.other_ill = !site_.other_ill;
        break;
      default: break;
    }
  }

  World& sim_;
  SimRuntime& us_ = sim_.host("us");
  SimDisk disk_;
  FakeSite site_;
  std::unique_ptr<Life> life_;
  TimePoint since_ = us_.now() - 1h;
};

SIM_TEST_SEEDS(SimPlans, AMemberIsKickedAndRejoinedOnceWhenTheAgentDiesAtAnyWrite, 300) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agent
