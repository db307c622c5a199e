// Three to seven agents on one store, which die, hang, lose the store, the cluster or the people at
// any time: one of them leads, people are told of everything once, and one repairs at a time.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agents/fake_etcd.h"
#include "agents/life.h"
#include "agents/truth.h"
#include "base/format.h"
#include "base/time.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::agents {
namespace {

using sim::World;
using namespace std::chrono_literals;

constexpr const char* kChecks[] = {"bird", "web"};
/// More at once are a storm, which is another story.
constexpr std::size_t kMostFailures = 4;
constexpr int kMostFalls = 3;
constexpr int kHappenings = 30;
/// A failure is an incident, and people know, by then.
constexpr Duration kAllIsKnown = 5min;
constexpr Duration kAllIsOver = 1h;
/// Amplified: rare moments are the ones that matter.
constexpr double kDisturbedAtAPoint = 0.04;

class Schedule {
 public:
  explicit Schedule(World& world)
      : sim_(world),
        etcd_(world, 1.0 + static_cast<double>(world.random().below(45)) / 100,
              world.random().chance(0.5) ? 30 : 1000),
        truth_(world, etcd_) {
    const std::size_t count = 3 + sim_.random().below(5);
    for (std::size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<Node>());
      Node& node = *nodes_.back();
      node.name = "a-" + std::to_string(i);
      node.store.way = Duration(1'000'000 + sim_.random().below(30'000'000));
      lives_.emplace_back();
      begin_life(i);
    }
    truth_.happens = [this](Point, LifeId life) { disturb_at_point(life); };
    truth_.leaders = [this] {
      return std::ranges::count_if(lives_, [](const auto& life) { return life && life->leads(); });
    };
  }

  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() {
    truth_.end();
    for (auto& life : lives_) life.reset();
    for (auto& life : dead_) life.reset();
  }

  void play() {
    for (int i = 0; i < kHappenings; ++i) {
      happen(sim_.random().below(nodes_.size()));
      run(Duration(sim_.random().below(10'000'000'000)));
    }
  }

  void verify() {
    heal();
    EXPECT_TRUE(wait_until([this] { return all_is_known(); }, kAllIsKnown))
        << "a failure is not told: " << missing();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : std::set<std::string>(nodes_[i]->failing)) set(i, name, false);
    }
    EXPECT_TRUE(wait_until([this] { return all_is_over(); }, kAllIsOver))
        << "something is open for ever: " << missing();
    truth_.verify();
  }

 private:
  template <class Condition>
  bool wait_until(Condition condition, Duration limit) {
    for (const TimePoint end = sim_.now() + limit; sim_.now() < end;) {
      if (condition()) return true;
      run(2s);
    }
    return condition();
  }
  void run(Duration time) {
    sim_.run_for(time);
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (lives_[i] && sim_.random().chance(0.1)) lives_[i]->rule();
    }
  }
  [[nodiscard]] Life* leader() const {
    const auto found =
        std::ranges::find_if(lives_, [](const auto& life) { return life && life->leads(); });
    return found == lives_.end() ? nullptr : found->get();
  }

  [[nodiscard]] bool all_is_known() const {
    Life* const leads = leader();
    if (leads == nullptr) return false;
    const auto open = leads->open();
    const auto is_told = [&](const std::string& root) {
      const auto found = open.find(root);
      return found != open.end() && truth_.is_told(found->second);
    };
    return std::ranges::all_of(truth_.failing(), [&](const auto& each) {
      return is_told(each.first) || is_told("node:" + each.first.substr(each.first.find('@') + 1));
    });
  }
  [[nodiscard]] bool all_is_over() const {
    const auto is_calm = [](const auto& life) { return life->open().empty(); };
    Life* const leads = leader();
    return leads != nullptr && leads->plans_ended() && truth_.cluster.whole() &&
           truth_.all_ended() && std::ranges::all_of(lives_, is_calm);
  }
  [[nodiscard]] std::string missing() const {
    Life* const leads = leader();
    if (leads == nullptr) return "nobody leads";
    std::string text = "the leader shows";
    for (const auto& [root, id] : leads->open())
      text += " " + root + "=" + std::to_string(id) + (truth_.is_told(id) ? "(told)" : "");
    text += "; failing:";
    for (const auto& [root, since] : truth_.failing()) text += " " + root;
    text += truth_.cluster.whole() ? "; the cluster is whole" : "; the cluster is not whole";
    return text + leads->plans();
  }

  void begin_life(std::size_t i) {
    Node& node = *nodes_[i];
    const LifeId id = ++births_;
    truth_.say(id, "begins on " + node.name);
    sim::SimRuntime& us = sim_.process(node.name + " " + std::to_string(id), node.name);
    lives_[i] = std::make_unique<Life>(Site{sim_, etcd_, truth_}, us, node, id);
  }
  /// It goes on by itself then, unless it is killed meanwhile.
  void pause(std::size_t i, Duration time) {
    const LifeId life = lives_[i]->id();
    lives_[i]->pause();
    sim_.schedule(sim_.now() + time, [this, i, life] {
      if (lives_[i] && lives_[i]->id() == life) lives_[i]->resume();
    });
  }
  void kill(std::size_t i) {
    truth_.say(lives_[i]->id(), "dies");
    lives_[i]->die();
    dead_.push_back(std::move(lives_[i]));
  }
  /// For a time; what is cut again meanwhile heals with the first.
  void cut(Link& link, Duration time) {
    (sim_.random().chance(0.3) ? link.deaf : link.cut) = true;
    sim_.schedule(sim_.now() + time, [&link] { link.cut = link.deaf = false; });
  }
  Duration up_to(Duration most) {
    return Duration(sim_.random().below(static_cast<std::uint64_t>(most.count())));
  }
  void set(std::size_t i, const std::string& name, bool fails) {
    Node& node = *nodes_[i];
    fails ? (void)node.failing.insert(name) : (void)node.failing.erase(name);
    truth_.set("check:" + name + "@" + node.name, fails);
    if (lives_[i]) lives_[i]->check(name, fails);
  }
  void toggle(std::size_t i) {
    const std::string name = kChecks[sim_.random().below(std::size(kChecks))];
    const bool fails = !nodes_[i]->failing.contains(name);
    if (fails && truth_.failing().size() >= kMostFailures) return;
    set(i, name, fails);
  }

  /// In the middle of what matters. Not at once: whoever does it is in the middle of a call.
  void disturb_at_point(LifeId life) {
    if (healed_ || !sim_.random().chance(kDisturbedAtAPoint)) return;
    truth_.say(life, "is disturbed");
    truth_.disturbed();
    sim_.schedule(sim_.now() + up_to(300ms), [this, life] {
      if (healed_) return;  // nobody would begin its next life
      for (std::size_t i = 0; i < lives_.size(); ++i) {
        if (!lives_[i] || lives_[i]->id() != life) continue;
        switch (sim_.random().below(4)) {
          case 0: kill(i); break;
          case 1: cut(nodes_[i]->store, up_to(20s)); break;
          default: pause(i, up_to(12s)); break;
        }
        return;
      }
    });
  }

  void happen(std::size_t i) {
    if (!lives_[i]) return begin_life(i);
    const std::uint64_t what = sim_.random().below(20);
    truth_.say(lives_[i]->id(), fmt::format("{}: happening {}", nodes_[i]->name, what));
    if (what < 12) truth_.disturbed();
    switch (what) {
      case 0:
      case 1:
        kill(i);
        if (sim_.random().chance(0.5)) begin_life(i);
        break;
      case 2: {
        // Whoever leads is killed more often than others.
        for (std::size_t k = 0; k < lives_.size(); ++k) {
          if (lives_[k] && lives_[k]->leads()) return kill(k);
        }
        break;
      }
      case 3:
        lives_[i]->resume();
        lives_[i].reset();
        begin_life(i);
        break;
      case 4:
      case 5: pause(i, up_to(20s)); break;
      case 6: cut(nodes_[i]->store, up_to(60s)); break;
      case 7: cut(nodes_[i]->cluster, up_to(30s)); break;
      case 8: cut(nodes_[i]->people, up_to(30s)); break;
      case 9:
        etcd_.set_away(true);
        sim_.schedule(
            sim_.now() + up_to(sim_.random().chance(0.3) ? Duration(4min) : Duration(20s)),
            [this] { etcd_.set_away(false); });
        break;
      case 10:
        etcd_.set_slow(up_to(3s));
        sim_.schedule(sim_.now() + up_to(20s), [this] { etcd_.set_slow({}); });
        break;
      case 11:
        nodes_[i]->disk.set_latency(up_to(4s));
        sim_.schedule(sim_.now() + up_to(20s), [this, i] { nodes_[i]->disk.set_latency({}); });
        break;
      case 12: lives_[i]->jump_wall_clock(up_to(2h) - 1h); break;
      case 13: nodes_[i]->store.lag = up_to(5s); break;
      case 14:
      case 15:
        if (truth_.cluster.whole() && truth_.cluster.falls() < kMostFalls) truth_.cluster.fall();
        if (truth_.cluster.falls() == 0) truth_.cluster.fall();
        break;
      default: toggle(i); break;
    }
  }

  void heal() {
    healed_ = true;
    truth_.say(0, "all is healed");
    truth_.disturbed();
    etcd_.set_away(false);
    etcd_.set_slow({});
    etcd_.calm_down();
    truth_.cluster.calm = true;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (Link* const link : {&nodes_[i]->store, &nodes_[i]->cluster, &nodes_[i]->people})
        link->cut = link->deaf = false;
      nodes_[i]->store.lag = {};
      nodes_[i]->disk.set_latency({});
      if (!lives_[i]) begin_life(i);
      lives_[i]->resume();
    }
  }

  World& sim_;
  FakeEtcd etcd_;
  Truth truth_;
  bool healed_ = false;
  LifeId births_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Life>> dead_;
  std::vector<std::unique_ptr<Life>> lives_;
};

SIM_TEST_SEEDS(SimCoordination, OneLeadsPeopleAreToldOnceAndOneRepairsAtATime, 500) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agents
