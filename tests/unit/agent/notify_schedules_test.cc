#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "agent/change_feed.h"
#include "agent/duty.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/leadership.h"

namespace wardmote::agent {
namespace {

using act::notify::Fate;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::Refusal;
using judge::notify::Tidings;
using runtime::Deadline;
using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};
constexpr const char* kChecks[] = {"bird", "peer-1", "peer-2", "web", "disk"};

/// Somebody who is told things, over all lives of the agent. Checks at once that no end comes
/// before its beginning.
struct Person {
  enum class Mood : std::uint8_t { kWell, kRefuses, kBusy, kHangs };

  void hear(const Notice& notice) {
    const bool repeated = !keys.insert(notice.key()).second;
    if (repeated) {
      ++repetitions;
      return;
    }
    for (const NoticeItem& item : notice.items) {
      const std::int64_t id = item.incident.id;
      switch (item.tidings) {
        case Tidings::kBegan:
          EXPECT_FALSE(open[id]) << id << " began twice";
          open[id] = true;
          begun.insert(id);
          break;
        case Tidings::kEnded:
          EXPECT_TRUE(open[id]) << id << " ended and had not begun";
          open[id] = false;
          ended.insert(id);
          break;
        case Tidings::kCameAndWent:
          EXPECT_FALSE(open[id]) << id;
          begun.insert(id);
          ended.insert(id);
          break;
        default: EXPECT_TRUE(open[id]) << id << " is not known"; break;
      }
    }
  }

  Mood mood = Mood::kWell;
  std::set<std::string> keys;
  int repetitions = 0;  ///< the same notice once more
  std::map<std::int64_t, bool> open;
  std::set<std::int64_t> begun;
  std::set<std::int64_t> ended;
};

/// The way to a person: what was said is heard before the answer comes back.
class Line final : public act::notify::Channel {
 public:
  Line(SimRuntime& host, Person& person) : host_(host), person_(person) {}

  Task<Fate> send(Notice notice, Deadline deadline) override {
    const Duration way(host_.random() % 300'000'000);
    co_await host_.sleep_until(host_.now() + way);
    switch (person_.mood) {
      case Person::Mood::kRefuses: co_return std::unexpected(Refusal{false, {}, "500"});
      case Person::Mood::kBusy: co_return std::unexpected(Refusal{false, 90s, "429"});
      case Person::Mood::kHangs: break;
      default:
        person_.hear(notice);
        co_await host_.sleep_until(host_.now() + way);
        co_return Fate();
    }
    co_await host_.sleep_until(deadline.at);
    co_return std::unexpected(Refusal{false, {}, "timed out"});
  }

 private:
  SimRuntime& host_;
  Person& person_;
};

config::Config sample_config() {
  config::Config config;
  for (const char* const name : kChecks) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    if (std::string_view(name).starts_with("peer")) check.depends_on = {"bird"};
    config.checks.push_back(std::move(check));
  }
  return config;
}

NotifierOptions receivers(SimRuntime& host, Person& person) {
  NotifierOptions options;
  judge::notify::Route route;
  route.receiver = "person";
  route.group_by = {"root"};
  route.group_wait = 10s;
  route.group_interval = 1min;
  options.policy.routes.push_back(route);
  options.receivers["person"] = {std::make_unique<Line>(host, person), 15s};
  return options;
}

/// One life of an agent's duty on a disk that outlives it.
class Life {
 public:
  Life(World& world, SimRuntime& host, SimDisk& disk, Person& person)
      : world_(world),
        us_(host),
        disk_(disk),
        database_(host, disk),
        duty_(host, &store_, alone_, config_, "us", feed_, receivers(host, person)) {
    disk_.restart();
    EXPECT_TRUE(run_task(world_, us_, store_.open()));
    feed_.listen([this](const judge::Change& change) { duty_.hear(change); });
    const Result<void> opened = run_task(world_, us_, duty_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    // Who dies in an orderly stop would sleep until the end of time.
    disk_.die_before(0);
    if (disk_.died()) disk_.bury();
    world_.run(us_, duty_.stop());
  }

  void check(const std::string& name, bool fails) {
    feed_.tell(LogLevel::kInfo, "check_changed",
               {{"check", name},
                {"from", fails ? "error" : "reported"},
                {"to", fails ? "reported" : "healthy"},
                {"detail", "refused"}});
  }
  [[nodiscard]] bool quiet() {
    return duty_.notifier().router().groups().empty() && !duty_.book().next_change();
  }

 private:
  World& world_;
  SimRuntime& us_;
  SimDisk& disk_;
  const config::Config config_ = sample_config();
  ChangeFeed feed_{[this] { return us_.wall_now(); }};
  SimDatabase database_;
  store::EmbeddedStore store_{us_, database_, "boot"};
  store::SoleLeadership alone_;
  Duty duty_;
};

/// Everything fails and recovers, the agent dies at any write and at any time, and the way to the
/// person is now good, now bad.
class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    disk_.set_latency(Duration(sim_.random().below(20'000'000)));
    begin_life();
  }

  void play() {
    const std::uint64_t length = 10 + sim_.random().below(40);
    for (std::uint64_t i = 0; i < length; ++i) happen();
  }

  void end_well() {
    person.mood = Person::Mood::kWell;
    if (disk_.died()) die();
    for (const std::string& name : std::set<std::string>(failing_)) recover(name);
    for (;;) {
      sim_.run_until([&] { return disk_.died() || life_->quiet(); }, 48h);
      if (!disk_.died()) sim_.run_for(1s);  // until the last of it is written down
      if (!disk_.died()) break;
      die();
    }
    ASSERT_TRUE(life_->quiet());
  }

  void verify() {
    for (const auto& row : disk_.rows("SELECT value FROM store_kv WHERE key LIKE 'incident/%'")) {
      const boost::json::value incident = boost::json::parse(*row.text(0));
      const std::int64_t id = incident.at("id").as_int64();
      EXPECT_FALSE(incident.at("open").as_bool()) << id;
      const bool merged = incident.at("merged_into").as_int64() != 0;
      EXPECT_TRUE(merged || person.begun.contains(id)) << id << " was never told";
      EXPECT_EQ(person.begun.contains(id), person.ended.contains(id)) << id << " has no end";
    }
    for (const auto& [id, open] : person.open) EXPECT_FALSE(open) << id;
    EXPECT_LE(person.repetitions, deaths_);
    EXPECT_TRUE(disk_.rows("SELECT * FROM store_kv WHERE key LIKE 'notify/group/%'").empty());
  }

  Person person;

 private:
  void begin_life() { life_ = std::make_unique<Life>(sim_, us_, disk_, person); }

  void die() {
    life_.reset();
    ++deaths_;
    sim_.run_for(Duration(sim_.random().below(100'000'000'000)));
    begin_life();
    // It sees anew what is wrong, in some order, soon.
    for (const std::string& name : failing_) {
      sim_.run_for(Duration(sim_.random().below(5'000'000'000)));
      life_->check(name, true);
    }
  }
  void recover(const std::string& name) {
    failing_.erase(name);
    life_->check(name, false);
  }

  void happen() {
    const std::string name = kChecks[sim_.random().below(std::size(kChecks))];
    switch (sim_.random().below(8)) {
      case 0:
      case 1:
      case 2:
        if (failing_.contains(name)) {
          recover(name);
        } else {
          failing_.insert(name);
          life_->check(name, true);
        }
        break;
      case 3: disk_.die_before(1 + sim_.random().below(40)); break;
      case 4: die(); break;
      case 5: person.mood = static_cast<Person::Mood>(sim_.random().below(4)); break;
      default: break;
    }
    const Duration time(
        sim_.random().below(sim_.random().chance(0.3) ? 600'000'000'000 : 20'000'000'000));
    if (sim_.run_until([&] { return disk_.died(); }, time)) die();
  }

  World& sim_;
  SimRuntime& us_ = sim_.host("us");
  SimDisk disk_;
  std::unique_ptr<Life> life_;
  std::set<std::string> failing_;
  int deaths_ = 0;
};

SIM_TEST_SEEDS(SimNotify, EachBeginningAndEachEndIsToldWhenTheAgentDiesAtAnyWrite, 1000) {
  Schedule schedule(sim);
  schedule.play();
  schedule.end_well();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agent
