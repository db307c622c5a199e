#include "agents/life.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "agents/fake_etcd.h"
#include "agents/truth.h"
#include "base/result.h"
#include "base/time.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/change.h"
#include "judge/incident/incident.h"
#include "judge/notify/router.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"
#include "observe/kinds.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/parking.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/store.h"

namespace wardmote::agents {

using act::StepRequest;
using act::notify::DeliveryResult;
using judge::notify::Notice;
using judge::plan::PlanState;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};
constexpr const char* kChecks[] = {"bird", "web"};
constexpr Duration kTtl = 6s;
constexpr Duration kOpenAgain = 5s;
constexpr Duration kLookEvery = 1s;
constexpr Duration kDelivery = 5s;
constexpr std::uint64_t kLookTakes = 400'000'000;
constexpr std::uint64_t kNoticeTakes = 300'000'000;

config::Config sample_config(const std::string& node) {
  config::Config config;
  config.node.name = node;
  for (const char* const name : kChecks) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
  }
  return config;
}

act::PlanRunner::Setup sample_setup() {
  judge::plan::Policy policy;
  policy.name = "rebuild";
  policy.on = {judge::Code::kRaftMemberDown};
  policy.act = policy.sole = true;
  policy.approval = false;
  policy.budget = 1000;
  policy.cooldown = 0s;
  return {{std::move(policy)}, {{judge::ThingKind::kCluster, "ovn-nb"}}};
}

/// How long a command runs at most.
std::uint64_t takes_at_most(const std::string& step) {
  if (step == "kick") return 2'000'000'000;
  return step == "rejoin" ? 25'000'000'000 : 8'000'000'000;
}

}  // namespace

/// Tells people. A notice that is on its way arrives whatever becomes of its sender.
class Life::FakeLine final : public act::notify::Channel {
 public:
  explicit FakeLine(Life& life) : life_(life) {}

  Task<DeliveryResult> send(Notice notice, Deadline deadline) override {
    struct Call {
      bool taken = false;
      sim::Parking* bed = nullptr;
    };
    sim::World& world = life_.site_.world;
    Truth& truth = life_.site_.truth;
    truth.tells(notice, life_.doer());
    sim::Parking bed(life_.us_);
    const auto call = std::make_shared<Call>();
    call->bed = &bed;
    struct Leave {
      Call* call;
      ~Leave() { call->bed = nullptr; }
    } const leave{call.get()};
    const Link& link = life_.node_.people;
    const Duration way(world.random().below(kNoticeTakes));
    const bool answered = world.random().chance(0.97);
    if (!link.cut && !life_.dead_) {
      world.schedule(world.now() + way, [&truth, notice] { truth.hears(notice); });
      world.schedule(world.now() + way * 2, [call, answered, &link] {
        call->taken = answered && !link.cut && !link.deaf;
        if (call->taken && call->bed != nullptr) call->bed->wake();
      });
    }
    while (!call->taken && !deadline.passed(life_.us_.now())) co_await bed.wait_until(deadline.at);
    truth.told(notice, call->taken, life_.id_);
    if (call->taken) co_return DeliveryResult();
    co_return std::unexpected(judge::notify::Refusal{false, {}, "no answer"});
  }

 private:
  Life& life_;
};

/// Has commands run on the member's host. They go on when whoever started them is dead, or end with
/// it.
class Life::FakeExecutor final : public act::StepExecutor {
 public:
  explicit FakeExecutor(Life& life) : life_(life) {}

  Duration patience(const StepRequest&) const override { return 30s; }
  Task<Result<std::string>> act(StepRequest request, Deadline deadline) override {
    struct Call {
      bool ended = false;
      sim::Parking* bed = nullptr;
    };
    sim::World& world = life_.site_.world;
    Truth& truth = life_.site_.truth;
    truth.steps_in(request, life_.doer(), life_.runner_.token());
    const LifeId id = life_.id_;
    const bool calm = truth.cluster.calm;
    if (life_.node_.cluster.cut || life_.dead_) {
      truth.steps_out(request, id);
      co_return fail(Errc::kRefused, "nobody is there");
    }
    sim::Parking bed(life_.us_);
    const auto call = std::make_shared<Call>();
    call->bed = &bed;
    struct Leave {
      Call* call;
      ~Leave() { call->bed = nullptr; }
    } const leave{call.get()};
    const Duration takes(world.random().below(takes_at_most(request.step)));
    const Duration effect = takes / 4 * static_cast<std::int64_t>(world.random().below(5));
    const bool outlives = world.random().chance(0.7);
    const bool done = calm || world.random().chance(0.9);
    const bool told = done && (calm || world.random().chance(0.9));
    const std::weak_ptr<Life*> starter = life_.self_;
    const auto runs = [starter, outlives] {
      const auto alive = starter.lock();
      return outlives || (alive && !(*alive)->dead_);
    };
    if (done) {
      world.schedule(world.now() + effect, [&truth, request, id, runs] {
        if (runs()) truth.does(request, id);
      });
    }
    world.schedule(world.now() + takes, [&truth, request, id, call] {
      truth.steps_out(request, id);
      call->ended = true;
      if (call->bed != nullptr) call->bed->wake();
    });
    while (!call->ended && !deadline.passed(life_.us_.now())) co_await bed.wait_until(deadline.at);
    if (!call->ended) co_return fail(Errc::kTimeout, "it runs too long");
    if (!told || life_.node_.cluster.cut) co_return fail(Errc::kRejected, "ended with 255");
    co_return std::string("it was done");
  }

 private:
  Life& life_;
};

Life::Life(Site site, sim::SimRuntime& host, Node& node, LifeId id)
    : site_(site),
      us_(host),
      node_(node),
      id_(id),
      config_(sample_config(node.name)),
      database_(host, node.disk),
      own_(host, database_, "boot"),
      store_(site.world, host, site.etcd, node.store, id),
      agents_(host, store_, kTtl, {.node = node.name, .boot = "boot"}),
      incidents_(host, &store_, agents_.leadership(), config_, node.name, feed_, receivers(), {},
                 &own_),
      executor_(std::make_unique<FakeExecutor>(*this)),
      runner_(host,
              {.journal = &database_,
               .store = &store_,
               .leadership = agents_.leadership(),
               .shared = true},
              sample_setup(), *executor_, doors()),
      tasks_(host.executor()) {
  EXPECT_TRUE(run_task(site_.world, us_, own_.open()));
  feed_.listen([this](const judge::Change& change, const serve::ChangeText&) {
    static_cast<void>(incidents_.hear(change));
  });
  EXPECT_TRUE(run_task(site_.world, us_, incidents_.open()));
  agents_.leadership().listen([this](bool leads) {
    if (leads && !dead_ && !site_.truth.over()) site_.truth.wins(id_);
  });
  agents_.start(incidents_, {doubts_.get()},
                [this](std::string why) { runner_.doubt_orders(std::move(why)); });
  tasks_.spawn("open plans", open_plans());
  tasks_.spawn("look on", look_on());
  for (const char* const name : kChecks) {
    const bool fails = node_.failing.contains(name);
    const bool known = starts_as_told(name);
    if (known != fails) check(name, fails);
    if (!known && !fails) find_good(name);
  }
}

Life::~Life() {
  us_.resume();
  site_.world.run(us_, tasks_.stop());
  site_.world.run(us_, runner_.stop());
  site_.world.run(us_, incidents_.stop());
  site_.world.run(us_, agents_.resign());
}

/// Whether the last life has left word that it fails.
bool Life::starts_as_told(const std::string& name) const {
  return std::ranges::any_of(incidents_.known_failures(),
                             [&](const auto& known) { return known.name == name; });
}

void Life::die() {
  dead_ = true;
  store_.bury();
  us_.pause();
  site_.truth.died(id_);
}

Doer Life::doer() {
  return {id_, leads(), {us_.now(), us_.wall_now()}};
}

incidents::NotifierOptions Life::receivers() {
  incidents::NotifierOptions options;
  judge::notify::Route route;
  route.receiver = "person";
  route.group_by = {"root"};
  route.group_wait = 2s;
  route.group_interval = 5s;
  route.repeat_interval = Duration::zero();
  options.policy.routes.push_back(std::move(route));
  options.policy.retry = {.first = 2s, .longest = 20s};
  options.receivers["person"] = {std::make_unique<FakeLine>(*this), kDelivery, false};
  return options;
}

act::PlanRunner::Doors Life::doors() {
  return {.look = [this](const judge::ThingId&) { look(); },
          .tell = [](const judge::ThingId&, const judge::Event&) {},
          .storm = [] { return false; },
          .incident = [](const judge::ThingId&) { return 0; }};
}

Task<void> Life::open_plans() {
  for (;;) {
    const Result<void> opened = co_await runner_.open();
    if (opened) co_return;
    co_await us_.sleep_until(us_.now() + kOpenAgain);
  }
}

Task<void> Life::look_on() {
  for (;;) {
    co_await us_.sleep_until(us_.now() + kLookEvery);
    for (const std::string& name : node_.failing) incidents_.looked(name, true);
    if (!node_.cluster.cut) hear_look(site_.truth.cluster.look());
  }
}

void Life::look() {
  sim::World& world = site_.world;
  site_.truth.happens(Point::kLooks, id_);
  if (node_.cluster.cut) return;
  // What is seen is what there is at some moment in between.
  const Duration way(world.random().below(kLookTakes));
  const std::weak_ptr<Life*> life = self_;
  auto seen = site_.truth.cluster.look();
  world.schedule(world.now() + way, [life, seen = std::move(seen)] {
    const auto there = life.lock();
    if (!there) return;
    boost::asio::post((*there)->us_.executor(), [life, seen] {
      const auto still_there = life.lock();
      if (still_there) (*still_there)->hear_look(seen);
    });
    (*there)->site_.world.mark_ready((*there)->us_);
  });
}

void Life::hear_look(const std::shared_ptr<const judge::plan::Remedy>& seen) {
  runner_.heard(seen, site_.truth.cluster.findings());
}

void Life::check(const std::string& name, bool fails) {
  using enum judge::State;
  feed_.tell({judge::ThingKind::kCheck, name},
             judge::CheckChanged{fails ? kError : kReported,
                                 fails ? kReported : kHealthy,
                                 {judge::ReasonCode::kRefused, "refused"}});
}

/// The first thing that this life sees of it.
void Life::find_good(const std::string& name) {
  feed_.tell({judge::ThingKind::kCheck, name},
             judge::CheckChanged{
                 judge::State::kDiscovery, judge::State::kHealthy, {judge::ReasonCode::kNone, ""}});
}

void Life::rule() {
  // He sees when a command still runs.
  if (dead_ || site_.truth.anybody_inside()) return;
  // He has looked whether what he had forbidden is forbidden still.
  if (!runner_.planner().pauses().empty()) static_cast<void>(runner_.resume("", "ann"));
  std::map<std::int64_t, judge::plan::Plan> waiting;
  for (const auto& [id, plan] : runner_.planner().plans()) {
    if (plan.state == PlanState::kProposed || plan.state == PlanState::kUnclear)
      waiting.emplace(id, plan);
  }
  // What was rejected is not planned again before the member was seen well: a person asks for it.
  const bool idle = std::ranges::none_of(runner_.planner().plans(),
                                         [](const auto& each) { return each.second.open(); });
  if (idle && leads() && !site_.truth.cluster.joined()) {
    const auto asked = runner_.propose("ovn-nb", "ctl-3", "ann");
    // Of a plan that he ended after the kick he does the rest by hand.
    if (!asked && asked.error().context.contains("is not listed"))
      site_.truth.cluster.do_it({.plan = {}, .step = "rejoin", .moment = {}});
  }
  for (const auto& [id, plan] : waiting) {
    // One that can go no further is in the way of a later one for the same member.
    const bool in_the_way = plan.state == PlanState::kUnclear &&
                            (id != waiting.rbegin()->first ||
                             plan.reason.contains("reject the plan, and ask for another"));
    if (site_.truth.cluster.joined() || in_the_way) {
      static_cast<void>(runner_.reject(id, "ann", "it is of no use"));
    } else {
      static_cast<void>(runner_.approve(id, "ann", ""));
    }
  }
}

std::map<std::string, std::int64_t> Life::open() const {
  std::map<std::string, std::int64_t> open;
  for (const auto& [id, incident] : incidents_.book().incidents()) {
    if (incident.phase == judge::incident::Phase::kOpen) open[incident.root] = id;
  }
  return open;
}

std::string Life::plans() const {
  std::string text;
  for (const auto& [id, plan] : runner_.planner().plans()) {
    if (!plan.open()) continue;
    const judge::plan::Step* const step = plan.current();
    text += "; plan " + std::to_string(id) + " is " + std::string(to_string(plan.state)) + " at " +
            (step == nullptr ? "its end" : step->name) + ": " + plan.reason;
  }
  return text;
}

bool Life::plans_ended() const {
  return std::ranges::none_of(runner_.planner().plans(),
                              [](const auto& each) { return each.second.open(); });
}

}  // namespace wardmote::agents
