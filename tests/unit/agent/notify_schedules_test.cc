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
#include "agent/domains.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/leadership.h"

namespace wardmote::agent {
namespace {

using act::notify::DeliveryResult;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::notify::Refusal;
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
    for (const NoticeItem& item : notice.items) watch_alert(item);
    if (notice.reminds) {
      hear_again(notice);
      return;
    }
    const bool repeated = !keys.insert(notice.key()).second;
    if (repeated) {
      ++repetitions;
      return;
    }
    for (const NoticeItem& item : notice.items) {
      const std::int64_t id = item.incident.id;
      told.push_back(std::string(to_string(item.kind)) + " " + std::to_string(id) + " " +
                     item.incident.root);
      switch (item.kind) {
        case NoticeKind::kOpened:
          EXPECT_FALSE(open[id]) << id << " began twice";
          open[id] = true;
          begun.insert(id);
          break;
        case NoticeKind::kResolved:
          EXPECT_TRUE(open[id]) << id << " ended and had not begun";
          open[id] = false;
          ended.insert(id);
          break;
        case NoticeKind::kBrief:
          EXPECT_FALSE(open[id]) << id;
          begun.insert(id);
          ended.insert(id);
          break;
        default: EXPECT_TRUE(open[id]) << id << " is not known"; break;
      }
    }
  }

  /// A reminder says nothing that was not told, and nothing that is over.
  void hear_again(const Notice& notice) {
    ++reminders;
    for (const NoticeItem& item : notice.items) {
      EXPECT_EQ(item.kind, NoticeKind::kOngoing);
      EXPECT_TRUE(open[item.incident.id]) << item.incident.id << " is not known";
    }
  }

  /// As Alertmanager keeps them: by their labels.
  void watch_alert(const NoticeItem& item) {
    EXPECT_FALSE(item.known_as.empty());
    const std::pair alert(item.incident.id, item.known_as);
    if (item.incident.phase != judge::incident::Phase::kResolved) {
      alerts.insert(alert);
    } else {
      alerts.erase(alert);
    }
  }

  Mood mood = Mood::kWell;
  std::set<std::string> keys;
  std::vector<std::string> told;
  int repetitions = 0;  ///< the same notice once more
  int reminders = 0;
  std::map<std::int64_t, bool> open;
  std::set<std::int64_t> begun;
  std::set<std::int64_t> ended;
  std::set<std::pair<std::int64_t, judge::notify::Labels>> alerts;  ///< that fire
};

/// The way to a person: what was said is heard before the answer comes back.
class Line final : public act::notify::Channel {
 public:
  Line(SimRuntime& host, Person& person) : host_(host), person_(person) {}

  Task<DeliveryResult> send(Notice notice, Deadline deadline) override {
    const Duration way(host_.random() % 300'000'000);
    co_await host_.sleep_until(host_.now() + way);
    switch (person_.mood) {
      case Person::Mood::kRefuses: co_return std::unexpected(Refusal{false, {}, "500"});
      case Person::Mood::kBusy: co_return std::unexpected(Refusal{false, 90s, "429"});
      case Person::Mood::kHangs: break;
      default:
        person_.hear(notice);
        co_await host_.sleep_until(host_.now() + way);
        co_return DeliveryResult();
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

incidents::NotifierOptions receivers(SimRuntime& host, Person& person) {
  incidents::NotifierOptions options;
  judge::notify::Route route;
  route.receiver = "person";
  route.group_by = {"root"};
  route.group_wait = 10s;
  route.group_interval = 1min;
  options.policy.routes.push_back(route);
  options.receivers["person"] = {std::make_unique<Line>(host, person), 15s, true};
  return options;
}

/// One life of an agent's manager on a disk that outlives it.
class Life {
 public:
  Life(World& world, SimRuntime& host, SimDisk& disk, Person& person)
      : world_(world),
        us_(host),
        disk_(disk),
        database_(host, disk),
        incidents_(host, &store_, alone_, config_, "us", feed_, receivers(host, person),
                   depends_of(domains())) {
    disk_.restart();
    EXPECT_TRUE(run_task(world_, us_, store_.open()));
    feed_.listen(
        [this](const judge::Change& change, const serve::ChangeText&) { incidents_.hear(change); });
    const Result<void> opened = run_task(world_, us_, incidents_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    // Who dies in an orderly stop would sleep until the end of time.
    disk_.die_before(0);
    if (disk_.died()) disk_.bury();
    world_.run(us_, incidents_.stop());
  }

  void check(const std::string& name, bool fails) {
    using enum judge::State;
    feed_.tell({judge::ThingKind::kCheck, name},
               judge::CheckChanged{fails ? kError : kReported,
                                   fails ? kReported : kHealthy,
                                   {judge::ReasonCode::kRefused, "refused"}});
  }
  /// What an earlier life knew to fail.
  [[nodiscard]] std::set<std::string> known() const {
    std::set<std::string> names;
    for (const incidents::KnownFailure& failure : incidents_.known_failures())
      names.insert(failure.name);
    return names;
  }
  [[nodiscard]] bool quiet() {
    return incidents_.notifier().router().groups().empty() && !incidents_.book().next_change();
  }

 private:
  World& world_;
  SimRuntime& us_;
  SimDisk& disk_;
  const config::Config config_ = sample_config();
  incidents::ChangeFeed feed_{[this] { return us_.wall_now(); }};
  SimDatabase database_;
  store::EmbeddedStore store_{us_, database_, "boot"};
  store::SoleLeadership alone_{us_, nullptr};
  incidents::IncidentManager incidents_;
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
    for (const auto& [id, labels] : person.alerts)
      ADD_FAILURE() << id << " fires on as " << labels.at("root");
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
    // It sees soon, in some order, what it does not know: what fails besides, and what does not any
    // more.
    const std::set<std::string> known = life_->known();
    for (const char* const name : kChecks) {
      if (known.contains(name) == failing_.contains(name)) continue;
      sim_.run_for(Duration(sim_.random().below(5'000'000'000)));
      life_->check(name, failing_.contains(name));
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
      case 6: us_.jump_wall_clock(std::chrono::minutes(sim_.random().below(480)) - 4h); break;
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

class ToldAfterARestart : public ::testing::Test {
 protected:
  /// What the person is told until then, as `kind id root`.
  std::vector<std::string> told_within(Duration time) {
    const std::size_t before = person.told.size();
    world.run_for(time);
    return {person.told.begin() + static_cast<std::ptrdiff_t>(before), person.told.end()};
  }

  using Told = std::vector<std::string>;
  World world{7};
  SimRuntime& us = world.host("us");
  SimDisk disk;
  Person person;
};

/// `peer-1` needs `bird`, so what the first is known by must not change when the second shows.
TEST_F(ToldAfterARestart, AnAlertWhoseCauseShowsEndsAlsoWhenTheAgentIsStartedBetween) {
  for (const int restart_after : {1, 2, 3}) {
    SCOPED_TRACE(restart_after);
    auto life = std::make_unique<Life>(world, us, disk, person);
    const auto restart = [&](int step, std::vector<const char*> failing) {
      if (step != restart_after) return;
      life.reset();
      life = std::make_unique<Life>(world, us, disk, person);
      for (const char* const name : failing) life->check(name, true);
    };
    life->check("peer-1", true);
    world.run_for(30s);
    EXPECT_EQ(person.alerts.size(), 1U);
    restart(1, {"peer-1"});
    life->check("bird", true);
    EXPECT_EQ(told_within(2min).size(), 1U) << "the cause";
    EXPECT_EQ(person.alerts.size(), 1U) << "still the same alert";
    restart(2, {"peer-1", "bird"});
    person.mood = Person::Mood::kRefuses;
    life->check("peer-1", false);
    life->check("bird", false);
    world.run_for(2min);
    EXPECT_EQ(person.alerts.size(), 1U) << "the end was refused";
    restart(3, {});
    person.mood = Person::Mood::kWell;
    world.run_for(30min);
    EXPECT_TRUE(person.alerts.empty()) << "it fires on";
    EXPECT_TRUE(life->quiet());
  }
}

TEST_F(ToldAfterARestart, AClockThatWasAheadWhenItWasWrittenHoldsNothingBack) {
  auto life = std::make_unique<Life>(world, us, disk, person);
  us.jump_wall_clock(5h);
  person.mood = Person::Mood::kRefuses;
  life->check("web", true);
  world.run_for(5min);
  life->check("disk", true);  // not even composed yet
  world.run_for(2s);
  life.reset();
  us.jump_wall_clock(-5h);
  person.mood = Person::Mood::kWell;
  life = std::make_unique<Life>(world, us, disk, person);
  Told told = told_within(2s);
  std::ranges::sort(told);
  EXPECT_EQ(told, (Told{"opened 1 check:web", "opened 2 check:disk"}));
}

TEST_F(ToldAfterARestart, ItsBackOffIsAllThatANoticeWaitsFor) {
  auto life = std::make_unique<Life>(world, us, disk, person);
  person.mood = Person::Mood::kBusy;  // 90 s
  life->check("web", true);
  world.run_for(15s);
  life.reset();
  person.mood = Person::Mood::kWell;
  us.jump_wall_clock(30s);
  life = std::make_unique<Life>(world, us, disk, person);
  EXPECT_EQ(told_within(30s), Told{});
  EXPECT_EQ(told_within(61s), Told{"opened 1 check:web"});
}

}  // namespace
}  // namespace wardmote::agent
