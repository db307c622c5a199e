#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "serve/raft/cluster_view.h"
#include "sim/fake_member.h"
#include "sim/seeds.h"
#include "support/ovn_captures.h"

namespace wardmote::agent {
namespace {

using judge::Observation;
using judge::Outcome;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using sim::FakeMember;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

/// What the counting probes of one test have done.
struct Diary {
  std::map<std::string, std::vector<TimePoint>> begun;  // by name and target
  std::map<std::string, int> looking;                   // by name
  std::int64_t alive = 0;
};
Diary* the_diary = nullptr;  // of the test that runs: a probe kind has no state

/// Counts its looks; they take up to a tenth of a second, by its name.
class CountingProbe final : public observe::Probe {
 public:
  CountingProbe(Runtime& runtime, std::string name, const std::string& target)
      : runtime_(&runtime), name_(std::move(name)), key_(name_ + " " + target) {
    ++the_diary->alive;
  }
  ~CountingProbe() override { --the_diary->alive; }

  Task<Observation> look(Deadline) override {
    struct Busy {
      int* looking;
      explicit Busy(int* count) : looking(count) { ++*looking; }
      ~Busy() { --*looking; }
    } const busy(&the_diary->looking[key_]);
    EXPECT_EQ(*busy.looking, 1) << "two looks at once at " << key_;
    const TimePoint begun = runtime_->now();
    the_diary->begun[key_].push_back(begun);
    co_await runtime_->sleep_until(begun + std::chrono::milliseconds(name_.size() * 7 % 100));
    co_return Observation{
        .subject = name_, .outcome = Outcome::kOk, .begun = begun, .ended = runtime_->now()};
  }

 private:
  Runtime* runtime_;
  std::string name_;
  std::string key_;
};

Result<std::unique_ptr<observe::Probe>> make_counting(Runtime& runtime, std::string subject,
                                                      const observe::Params& params) {
  const std::string& target = std::get<std::string>(params.at("target"));
  if (target == "impossible") return fail(Errc::kInvalid, "no such target");
  return std::make_unique<CountingProbe>(runtime, std::move(subject), target);
}
constexpr observe::ProbeKind kCounting{"counting", "counts its looks", {}, make_counting};

config::Check counted(const std::string& name, const std::string& target = "one",
                      Duration every = 1s) {
  return {name, {}, &kCounting, {{"target", target}}, {every, every * 9 / 10, {}, false}, {}};
}

config::Config with_checks(std::vector<config::Check> checks) {
  config::Config config;
  config::Gate ready{"ready", {}};
  for (const config::Check& check : checks) ready.all.push_back(check.name);
  config.checks = std::move(checks);
  config.gates = {std::move(ready)};
  return config;
}

/// An agent, and the diary of its probes.
class Bench {
 public:
  Bench(World& world, config::Config config) : sim(world) {
    the_diary = &diary;
    agent = std::make_unique<Agent>(us, no_service, std::move(config), "ctl");
    const Result<void> started = agent->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Bench() {
    sim.run(us, agent->stop());
    agent.reset();
    EXPECT_EQ(diary.alive, 0);
  }

  /// As a task of the agent's process, where reloads happen.
  config::ReloadPlan reload(config::Config next) {
    config::ReloadPlan plan;
    sim.run(us, apply(agent.get(), std::move(next), &plan));
    return plan;
  }
  [[nodiscard]] const serve::CheckView& view(std::string_view name) const {
    const auto& checks = agent->fresh_view().checks;
    const auto found = std::ranges::find(checks, name, &serve::CheckView::name);
    EXPECT_NE(found, checks.end()) << name;
    return *found;
  }
  [[nodiscard]] bool ready() const { return agent->fresh_view().gates.at(0).ready; }

  World& sim;
  SimRuntime& us = sim.host("us");
  Diary diary;
  const ServiceManager no_service{"", std::nullopt};
  std::unique_ptr<Agent> agent;

 private:
  static Task<void> apply(Agent* agent, config::Config next, config::ReloadPlan* into) {
    const Result<config::ReloadPlan> plan = agent->reload(std::move(next));
    EXPECT_TRUE(plan) << plan.error().describe();
    if (plan) *into = *plan;
    co_return;
  }
};

void expect_every_second(const Bench& bench, const std::string& key) {
  const std::vector<TimePoint>& times = bench.diary.begun.at(key);
  for (std::size_t i = 2; i < times.size(); ++i)
    ASSERT_EQ(times[i] - times[i - 1], 1s) << key << " look " << i;
}

/// The counter test: whatever a reload does to others, a check that stays the same is looked at
/// once a second, not once more and not once less.
SIM_TEST_SEEDS(Reload, OfTenThousandChecksSkipsNothingAndDoublesNothing, 1) {
  const int all = sim::is_cut_short() ? 2000 : 10'000;
  constexpr int kTouched = 50;  // of each sort, at each of the reloads
  constexpr int kReloads = 5;
  std::vector<config::Check> checks;
  for (int i = 0; i < all; ++i) checks.push_back(counted("check-" + std::to_string(i)));
  Bench bench(sim, with_checks(checks));
  sim.run_for(3s);

  for (int round = 0; round < kReloads; ++round) {
    sim.run_for(1s + Duration(sim.random().below(1'000'000'000)));
    std::vector<config::Check> next = checks;
    // The first 600 are those that are touched, in turn; all others stay.
    for (int i = 0; i < kTouched; ++i) {
      next[round * kTouched + i] = counted(next[round * kTouched + i].name, "two");
      next[300 + round * kTouched + i].schedule.policy.fall = 9;
    }
    next.erase(next.begin() + 550 + round, next.begin() + 600);
    for (int i = 0; i < kTouched; ++i)
      next.push_back(counted("late-" + std::to_string(round) + "-" + std::to_string(i)));
    std::ranges::rotate(next, next.begin() + all / 2);
    bench.reload(with_checks(next));
    EXPECT_EQ(bench.diary.alive, std::ssize(next)) << "the probes of no check more and no less";
  }
  sim.run_for(5s);

  for (int i = 600; i < all; ++i) expect_every_second(bench, "check-" + std::to_string(i) + " one");
  for (const serve::CheckView& check : bench.agent->fresh_view().checks)
    EXPECT_EQ(check.missed, 0U) << check.name;
  EXPECT_EQ(bench.diary.begun.size(), all + kReloads * kTouched * 2U);
}

SIM_TEST_SEEDS(Reload, KeepsStateCountersAndPlace, 20) {
  Bench bench(sim, with_checks({counted("a"), counted("b"), counted("c")}));
  sim.run_for(20s + Duration(sim.random().below(1'000'000'000)));
  ASSERT_TRUE(bench.ready());
  const std::uint64_t looks = bench.view("c").looks;
  const TimePoint since = bench.view("c").state.since;

  std::vector<config::Check> next = {counted("c"), counted("a", "two"), counted("d")};
  next[2].schedule.optional = true;
  const config::ReloadPlan plan = bench.reload(with_checks(next));
  EXPECT_EQ(plan.count(config::ReloadAction::kKept), 1U);
  EXPECT_EQ(bench.view("c").looks, looks);
  EXPECT_EQ(bench.view("c").state.since, since);
  EXPECT_EQ(bench.view("c").state.state, judge::State::kHealthy);
  EXPECT_EQ(bench.view("a").state.state, judge::State::kDiscovery) << "it looks at something else";
  EXPECT_FALSE(bench.ready()) << "nobody has seen it good yet";
  sim.run_for(10s);
  EXPECT_TRUE(bench.ready());
  expect_every_second(bench, "c one");
  EXPECT_GE(bench.view("c").looks, looks + 9) << "it has another place, and its looks go there";
  EXPECT_LE(bench.view("d").looks, 12U);
  EXPECT_EQ(bench.agent->fresh_view().checks.size(), 3U);
}

SIM_TEST_SEEDS(Reload, AnotherScheduleKeepsWhatIsKnownAndClosesNoGate, 20) {
  Bench bench(sim, with_checks({counted("a"), counted("b")}));
  sim.run_for(10s);
  const std::uint64_t looks = bench.view("a").looks;
  bench.reload(with_checks({counted("a", "one", 250ms), counted("b")}));
  EXPECT_TRUE(bench.ready());
  EXPECT_EQ(bench.view("a").state.state, judge::State::kHealthy);
  EXPECT_EQ(bench.view("a").every, 250ms);
  sim.run_for(10s);
  EXPECT_GE(bench.view("a").looks, looks + 38);
  EXPECT_EQ(bench.diary.alive, 2);
}

SIM_TEST_SEEDS(Reload, ThatCannotBeAppliedChangesNothing, 5) {
  config::Config config = with_checks({counted("a"), counted("b")});
  config.api.listen = runtime::Endpoint::tcp("127.0.0.1", 9470);
  Bench bench(sim, config);
  sim.run_for(5s);
  config::Config impossible = with_checks({counted("a"), counted("x", "impossible")});
  const auto refused = bench.agent->reload(impossible);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalid);

  // The other process has the socket, so one of the two addresses cannot be served.
  SimRuntime& other = sim.process("other", "us");
  const auto taken = other.listen(runtime::Endpoint::unix_socket("/run/taken.sock"));
  ASSERT_TRUE(taken);
  config::Config elsewhere = with_checks({counted("z")});
  elsewhere.api.listen = runtime::Endpoint::tcp("127.0.0.1", 9471);
  elsewhere.api.socket = runtime::Endpoint::unix_socket("/run/taken.sock");
  EXPECT_FALSE(bench.agent->reload(elsewhere));
  sim.run_for(5s);
  expect_every_second(bench, "a one");
  expect_every_second(bench, "b one");
  EXPECT_EQ(bench.diary.alive, 2);
  EXPECT_EQ(bench.agent->fresh_view().checks.size(), 2U);
}

config::Config with_cluster() {
  config::Config config;
  config::Cluster cluster;
  cluster.name = "nb";
  cluster.expectation.database = "OVN_Northbound";
  for (const char* number : {"1", "2", "3"}) {
    config::Member& member = cluster.members.emplace_back();
    member.name = std::string("ctl-") + number;
    member.control = runtime::Endpoint::unix_socket(std::string("/run/") + number + ".ctl");
    member.ovsdb = runtime::Endpoint::unix_socket(std::string("/run/") + number + ".sock");
  }
  cluster.schedule = {1s, 900ms, {.fall = 1, .rise = 1}, false};
  config.checks = {check_of(cluster)};
  config.clusters = {std::move(cluster)};
  config.gates = {{"ready", {"nb"}}};
  return config;
}

/// Three servers of a healthy cluster, on the agent's host.
class Servers {
 public:
  explicit Servers(World& sim) {
    const std::string capture = "01-healthy.txt";
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      testing::FakeManners manners = testing::healthy_manners(testing::statuses_of(capture).at(i));
      manners.results["transact"] = R"([{"rows":[{"model":"clustered",)" +
                                    testing::lines_after(capture, R"([{"rows":[{)").at(i);
      members.push_back(
          std::make_unique<FakeMember>(sim.process("ovsdb-server-" + number, "us"),
                                       runtime::Endpoint::unix_socket("/run/" + number + ".ctl"),
                                       runtime::Endpoint::unix_socket("/run/" + number + ".sock")));
      members.back()->start(manners);
    }
  }
  std::vector<std::unique_ptr<FakeMember>> members;
};

const serve::ClusterView& cluster_of(const Bench& bench, std::size_t index = 0) {
  return dynamic_cast<const serve::ClusterView&>(*bench.agent->fresh_view().things.at(index));
}

std::vector<std::string> codes(const Bench& bench) {
  std::vector<std::string> codes;
  for (const judge::Finding& finding : cluster_of(bench).assessment.findings)
    codes.emplace_back(to_string(finding.code));
  return codes;
}

SIM_TEST_SEEDS(Reload, AClusterThatMovesInTheFileGoesOn, 5) {
  const Servers servers(sim);
  Bench bench(sim, with_cluster());
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  ASSERT_TRUE(bench.ready());
  const std::uint64_t judged = cluster_of(bench).counters.judgements;
  config::Config next = with_cluster();
  next.clusters.insert(next.clusters.begin(), next.clusters[0]);
  next.clusters[0].name = "first";
  next.clusters[0].members.resize(1);
  next.checks = {check_of(next.clusters[0]), check_of(next.clusters[1]), counted("a")};
  bench.reload(next);
  EXPECT_TRUE(bench.ready());
  EXPECT_EQ(cluster_of(bench, 1).counters.judgements, judged);
  for (int i = 0; i < 20; ++i) {
    sim.run_for(500ms);
    ASSERT_TRUE(bench.ready());
    ASSERT_EQ(cluster_of(bench, 1).assessment.verdict, judge::Verdict::kOk);
  }
  // And back, in the middle of whatever is under way.
  sim.run_for(Duration(sim.random().below(1'000'000'000)));
  bench.reload(with_cluster());
  sim.run_for(5s);
  EXPECT_TRUE(bench.ready());
  EXPECT_GE(cluster_of(bench).counters.judgements, judged + 14);
}

SIM_TEST_SEEDS(Reload, AFindingOutlivesAnotherScheduleOfItsCluster, 10) {
  const Servers servers(sim);
  Bench bench(sim, with_cluster());
  sim.run_for(10s);
  servers.members[2]->process().pause();
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  ASSERT_EQ(codes(bench), std::vector<std::string>{"RAFT_MEMBER_HUNG"});
  config::Config next = with_cluster();
  next.clusters[0].schedule.every = 500ms;
  next.clusters[0].schedule.timeout = 400ms;
  bench.reload(next);
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(codes(bench), std::vector<std::string>{"RAFT_MEMBER_HUNG"});
    sim.run_for(200ms);
  }
}

// Somebody corrects the configuration in an outage: nothing is told as over meanwhile.
SIM_TEST_SEEDS(Reload, AnOutageOutlivesOtherMembersAndOtherWaysToAskThem, 10) {
  const Servers servers(sim);
  Bench bench(sim, with_cluster());
  sim.run_for(10s);
  servers.members[2]->process().pause();
  sim.run_for(20s + Duration(sim.random().below(1'000'000'000)));
  const auto expect_stands = [&] {
    for (int i = 0; i < 40; ++i) {
      ASSERT_EQ(cluster_of(bench).assessment.verdict, judge::Verdict::kCritical);
      ASSERT_EQ(codes(bench).front(), "RAFT_MEMBER_HUNG") << "after " << i << " times 200 ms";
      ASSERT_FALSE(bench.ready());
      sim.run_for(200ms);
    }
  };
  config::Config next = with_cluster();
  next.clusters[0].members[2].repair = {
      .copy = {"/bin/copy"}, .report = {}, .rejoin = {"/bin/rejoin"}, .timeout = 1min};
  bench.reload(next);
  expect_stands();
  next.clusters[0].members[1].ovsdb.reset();
  bench.reload(next);
  expect_stands();
  config::Member& more = next.clusters[0].members.emplace_back();
  more.name = "ctl-4";
  more.control = runtime::Endpoint::unix_socket("/run/4.ctl");
  bench.reload(next);
  expect_stands();
}

}  // namespace
}  // namespace wardmote::agent
