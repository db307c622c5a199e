#include "agent/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using judge::Observation;
using judge::Outcome;
using judge::Reason;
using judge::ReasonCode;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using sim::SimRuntime;
using sim::World;

/// What the probes of a test have done.
struct Diary {
  std::map<std::string, std::vector<TimePoint>> begun;
  std::vector<TimePoint> all;
  int at_work = 0;
  int alive = 0;
};

/// A target that answers after a time, or never.
class FakeProbe final : public observe::Probe {
 public:
  FakeProbe(Runtime& runtime, std::string name, Duration takes, Outcome outcome, Diary& diary)
      : runtime_(&runtime),
        name_(std::move(name)),
        takes_(takes),
        outcome_(outcome),
        diary_(&diary) {
    ++diary_->alive;
  }
  ~FakeProbe() override { --diary_->alive; }

  Task<Observation> look(Deadline deadline) override {
    struct Busy {
      FakeProbe* probe;
      explicit Busy(FakeProbe* p) : probe(p) {
        EXPECT_FALSE(probe->looking_) << "two looks at once at " << probe->name_;
        probe->looking_ = true;
        ++probe->diary_->at_work;
      }
      ~Busy() {
        probe->looking_ = false;
        --probe->diary_->at_work;
      }
    } const busy(this);
    const TimePoint begun = runtime_->now();
    diary_->begun[name_].push_back(begun);
    diary_->all.push_back(begun);
    const TimePoint answered = begun + takes_;
    co_await runtime_->sleep_until(std::min(answered, deadline.at));
    Observation seen{
        .subject = name_, .outcome = outcome_, .begun = begun, .ended = runtime_->now()};
    if (seen.ended >= deadline.at) {
      seen.outcome = Outcome::kFail;
      seen.reason = {ReasonCode::kHung, "no answer"};
    }
    co_return seen;
  }

 private:
  Runtime* runtime_;
  std::string name_;
  Duration takes_;
  Outcome outcome_;
  Diary* diary_;
  bool looking_ = false;
};

constexpr Duration kNever = 1000h;

/// A scheduler on one host, and what it said.
class Bench {
 public:
  explicit Bench(World& world) : sim(world) {}
  ~Bench() { sim.run(us, scheduler.stop()); }

  std::unique_ptr<FakeProbe> probe(const std::string& name, Duration takes = 1ms,
                                   Outcome outcome = Outcome::kOk) {
    return std::make_unique<FakeProbe>(us, name, takes, outcome, diary);
  }
  void add(const std::string& name, Duration takes = 1ms, Outcome outcome = Outcome::kOk,
           Duration every = 1s) {
    const Result<void> added =
        scheduler.add({name, every, every * 9 / 10}, probe(name, takes, outcome));
    ASSERT_TRUE(added) << added.error().describe();
  }
  /// How many looks began in the time after `from`.
  [[nodiscard]] std::ptrdiff_t begun_within(TimePoint from, Duration time) const {
    return std::ranges::count_if(diary.all,
                                 [&](TimePoint t) { return t >= from && t < from + time; });
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  Diary diary;
  judge::StarvationGuard guard;
  std::vector<Observation> seen;
  Duration latest{};
  Scheduler scheduler{
      us,
      guard,
      {.observed =
           [this](const Schedule&, const Observation& observation, Duration lateness) {
             seen.push_back(observation);
             latest = std::max(latest, lateness);
           },
       .beat = {}}};
};

SIM_TEST_SEEDS(Scheduler, AThousandChecksRunOnTimeForTenMinutes, 1) {
  Bench bench(sim);
  for (int i = 0; i < 1000; ++i) {
    bench.add("check-" + std::to_string(i),
              std::chrono::microseconds(300 + sim.random().below(5000)));
  }
  const TimePoint begun = sim.now();
  const std::size_t seconds = sim::is_cut_short() ? 60 : 600;
  sim.run_for(std::chrono::seconds(seconds));
  for (const auto& [name, times] : bench.diary.begun) {
    EXPECT_GE(times.size(), seconds) << name;
    EXPECT_LE(times.size(), seconds + 1) << name;
    for (std::size_t i = 2; i < times.size(); ++i) ASSERT_EQ(times[i] - times[i - 1], 1s) << name;
  }
  EXPECT_EQ(bench.diary.begun.size(), 1000U);
  EXPECT_EQ(bench.latest, 0s);
  EXPECT_EQ(bench.scheduler.lateness().max(), 0s);
  // Spread over the second: a tenth of it has a tenth of the looks, more or less.
  for (Duration t{}; t < 10s; t += 100ms) EXPECT_LE(bench.begun_within(begun + t, 100ms), 160);
  EXPECT_EQ(std::ranges::count(bench.seen, Outcome::kOk, &Observation::outcome),
            std::ssize(bench.seen));
}

SIM_TEST(Scheduler, TheRateIsFromStartToStart) {
  Bench bench(sim);
  bench.add("slow", 700ms);
  sim.run_for(20s);
  const std::vector<TimePoint>& times = bench.diary.begun["slow"];
  ASSERT_GE(times.size(), 18U);
  for (std::size_t i = 2; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 1s);
}

SIM_TEST(Scheduler, HungTargetsDelayNobody) {
  Bench bench(sim);
  for (int i = 0; i < 20; ++i) bench.add("hung-" + std::to_string(i), kNever);
  for (int i = 0; i < 20; ++i) bench.add("well-" + std::to_string(i));
  sim.run_for(20s);
  for (const auto& [name, times] : bench.diary.begun) {
    EXPECT_GE(times.size(), 20U) << name;
    for (std::size_t i = 2; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 1s) << name;
  }
  for (const Observation& seen : bench.seen) {
    EXPECT_EQ(seen.outcome, seen.subject.starts_with("hung") ? Outcome::kFail : Outcome::kOk);
  }
  EXPECT_EQ(bench.latest, 0s);
}

SIM_TEST(Scheduler, ALookThatTakesItsWholeIntervalMissesNoTick) {
  Bench bench(sim);
  ASSERT_TRUE(bench.scheduler.add({"tight", 1s, 1s}, bench.probe("tight", kNever)));
  sim.run_for(30s);
  EXPECT_GE(bench.scheduler.punctuality("tight")->looks, 29U);
  EXPECT_EQ(bench.scheduler.punctuality("tight")->missed, 0U);
}

SIM_TEST_SEEDS(Scheduler, APausedProcessResumesWithoutABurst, 1) {
  Bench bench(sim);
  for (int i = 0; i < 300; ++i) bench.add("fast-" + std::to_string(i));
  for (int i = 0; i < 300; ++i) bench.add("slow-" + std::to_string(i), 1ms, Outcome::kOk, 30s);
  sim.run_for(60s);
  bench.us.pause_for(20s);
  sim.run_for(20s);
  const TimePoint resumed = sim.now();
  sim.run_for(60s);
  // 300 fast ones and 10 slow ones a second, and the 200 slow ones that were missed, spread.
  EXPECT_LE(bench.begun_within(resumed, 100ms), 70);
  EXPECT_LE(bench.begun_within(resumed, 1s), 370);
  // Everybody is back at his rate, the missed ticks are counted and were not made up for.
  const Punctuality fast = *bench.scheduler.punctuality("fast-7");
  EXPECT_NEAR(static_cast<double>(fast.missed), 20, 1);
  EXPECT_NEAR(static_cast<double>(fast.looks), 120, 3);
}

SIM_TEST(Scheduler, AMachineThatNeverRunsOnTimeStillLooks) {
  Bench bench(sim);
  bench.add("well");
  bench.us.starve_for(60s, 3s);
  sim.run_for(60s);
  EXPECT_GE(bench.scheduler.punctuality("well")->looks, 5U);
}

SIM_TEST(Scheduler, WhileWeAreStarvedBadNewsAreVoidAndGoodNewsCount) {
  Bench bench(sim);
  bench.add("hung", kNever);
  bench.add("well", 300ms);
  sim.run_for(5s);
  EXPECT_GT(std::ranges::count(bench.seen, Outcome::kFail, &Observation::outcome), 0);
  bench.seen.clear();
  bench.us.starve_for(20s, 400ms);
  sim.run_for(20s);
  EXPECT_EQ(std::ranges::count(bench.seen, Outcome::kFail, &Observation::outcome), 0);
  EXPECT_GT(std::ranges::count(bench.seen, Outcome::kOk, &Observation::outcome), 0);
  EXPECT_GT(std::ranges::count(bench.seen, Outcome::kUnknown, &Observation::outcome), 0);
  EXPECT_GT(bench.scheduler.punctuality("hung")->voided, 0U);
  EXPECT_TRUE(bench.guard.complaint(sim.now()));
  sim.run_for(3s);
  bench.seen.clear();
  sim.run_for(5s);
  EXPECT_GT(std::ranges::count(bench.seen, Outcome::kFail, &Observation::outcome), 0);
}

/// SIGSTOP in the middle of a look: after SIGCONT its deadline has long passed, and that is our
/// doing.
SIM_TEST(Scheduler, ALookThatAPauseMadeLateIsVoid) {
  Bench bench(sim);
  bench.add("well", 500ms);
  const std::vector<TimePoint>& begun = bench.diary.begun["well"];
  ASSERT_TRUE(sim.run_until([&] { return begun.size() == 3; }, 10s));
  bench.seen.clear();
  bench.us.pause_for(10s);
  sim.run_for(10s + 1ms);
  ASSERT_EQ(bench.seen.size(), 1U);
  EXPECT_EQ(bench.seen[0].outcome, Outcome::kUnknown);
  EXPECT_EQ(bench.seen[0].reason.code, ReasonCode::kProberStarved);
}

SIM_TEST(Scheduler, WhenTheClockIsSetBadNewsAreVoid) {
  Bench bench(sim);
  bench.add("hung", kNever);
  const std::vector<TimePoint>& begun = bench.diary.begun["hung"];
  ASSERT_TRUE(sim.run_until([&] { return begun.size() == 2; }, 10s));
  bench.seen.clear();
  bench.us.jump_wall_clock(1h);
  ASSERT_TRUE(sim.run_until([&] { return !bench.seen.empty(); }, 10s));
  EXPECT_EQ(bench.seen[0].outcome, Outcome::kUnknown);
}

SIM_TEST(Scheduler, ChangesDoNotDisturbOtherChecks) {
  Bench bench(sim);
  for (int i = 0; i < 10; ++i) bench.add("stays-" + std::to_string(i), 200ms);
  bench.add("goes", kNever);
  bench.add("changes", kNever);
  for (int round = 0; round < 20; ++round) {
    sim.run_for(std::chrono::milliseconds(100 + sim.random().below(900)));
    bench.add("new-" + std::to_string(round));
    bench.add("changes", 1ms);
    bench.scheduler.remove("goes");
    bench.scheduler.remove("never was");
  }
  sim.run_for(5s);
  for (const auto& [name, times] : bench.diary.begun) {
    if (!name.starts_with("stays")) continue;
    for (std::size_t i = 2; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 1s) << name;
  }
  // 10 that stay, 20 new ones, one that changed; the replaced probes are gone.
  EXPECT_EQ(bench.scheduler.size(), 31U);
  EXPECT_EQ(bench.diary.alive, 31);
  EXPECT_FALSE(bench.scheduler.punctuality("goes"));
}

SIM_TEST(Scheduler, ARemovedCheckEndsInTheMiddleOfItsLook) {
  Bench bench(sim);
  bench.add("hung", kNever, Outcome::kOk, 1h);
  ASSERT_TRUE(sim.run_until([&] { return bench.diary.at_work == 1; }, 10s));
  bench.scheduler.remove("hung");
  sim.run_for(1ms);
  EXPECT_EQ(bench.diary.alive, 0);
  EXPECT_TRUE(bench.seen.empty());
}

SIM_TEST(Scheduler, PushesAreCoalescedAndLeaveTheScheduleAlone) {
  Bench bench(sim);
  bench.add("pushed", 50ms, Outcome::kOk, 10s);
  const std::vector<TimePoint>& begun = bench.diary.begun["pushed"];
  ASSERT_TRUE(sim.run_until([&] { return begun.size() == 2; }, 30s));
  const TimePoint tick = begun.back();
  sim.run_for(3s);
  // The first push is a look at once; those during it are one more.
  for (int i = 0; i < 10; ++i) bench.scheduler.look_now("pushed");
  sim.run_for(10ms);
  for (int i = 0; i < 10; ++i) bench.scheduler.look_now("pushed");
  sim.run_for(1s);
  EXPECT_EQ(begun.size(), 4U);
  ASSERT_TRUE(sim.run_until([&] { return begun.size() == 5; }, 30s));
  EXPECT_EQ(begun.back(), tick + 10s);
}

SIM_TEST(Scheduler, PushesAtAnyTimeNeverMakeTwoLooksAtOnce) {
  Bench bench(sim);
  for (const char* name : {"a", "b", "c"}) bench.add(name, 400ms);
  for (int i = 0; i < 200; ++i) {
    sim.run_for(std::chrono::milliseconds(sim.random().below(300)));
    bench.scheduler.look_now(sim.random().chance(0.5) ? "a" : "b");
    bench.scheduler.look_now("never was");
  }
  EXPECT_GE(bench.diary.begun["c"].size(), 20U);
}

SIM_TEST(Scheduler, StopEndsEverythingAtOnce) {
  Diary* diary = nullptr;
  {
    Bench bench(sim);
    diary = &bench.diary;
    for (int i = 0; i < 10; ++i) bench.add("hung-" + std::to_string(i), kNever, Outcome::kOk, 1h);
    sim.run_for(5s);
    EXPECT_EQ(diary->at_work, 10);
    const TimePoint begun = sim.now();
    sim.run(bench.us, bench.scheduler.stop());
    EXPECT_EQ(sim.now(), begun);
    EXPECT_EQ(diary->at_work, 0);
    EXPECT_EQ(diary->alive, 0);
  }
}

SIM_TEST(Scheduler, ASenselessScheduleIsRefused) {
  Bench bench(sim);
  EXPECT_FALSE(bench.scheduler.add({"a", 1s, 2s}, bench.probe("a")));
  EXPECT_FALSE(bench.scheduler.add({"a", 0s, 0s}, bench.probe("a")));
  EXPECT_FALSE(bench.scheduler.add({"a", 1s, 0s}, bench.probe("a")));
  EXPECT_EQ(bench.scheduler.size(), 0U);
}

SIM_TEST(Scheduler, RoundsOfTheCallersOwnAreScheduledAlike) {
  Bench bench(sim);
  std::vector<TimePoint> begun;
  struct Context {
    SimRuntime* us;
    std::vector<TimePoint>* begun;
  } context{&bench.us, &begun};
  constexpr auto round = [](Context* in, Deadline deadline) -> Task<void> {
    EXPECT_EQ(deadline.at - in->us->now(), 900ms);
    in->begun->push_back(in->us->now());
    co_await in->us->sleep_until(deadline.at);
  };
  ASSERT_TRUE(bench.scheduler.add({"cluster", 1s, 900ms}, [&](Deadline deadline, Duration) {
    return round(&context, deadline);
  }));
  sim.run_for(10s);
  EXPECT_GE(begun.size(), 10U);
}

}  // namespace
}  // namespace wardmote::agent
