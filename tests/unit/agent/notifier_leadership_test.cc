// Only who leads tells people, and takes the orders about it.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "agent/domains.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/notify/notice.h"
#include "judge/thing.h"
#include "observe/kinds.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "serve/change_text.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

/// What somebody was told, and how slowly he takes it.
struct Told {
  std::size_t notices = 0;
  std::map<std::string, int> by_root;
  Duration takes{};
  int refuses = 0;  ///< the next so many, after it took its time
};

/// Counts what it is told.
class FakeReceiver final : public act::notify::Channel {
 public:
  FakeReceiver(sim::SimRuntime& host, Told& told) : host_(host), told_(told) {}

  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice notice,
                                                  runtime::Deadline) override {
    ++told_.notices;
    for (const judge::notify::NoticeItem& item : notice.items) ++told_.by_root[item.incident.root];
    const bool refused = told_.refuses > 0 && told_.refuses-- > 0;
    co_await host_.sleep_until(host_.now() + told_.takes);
    if (refused) co_return std::unexpected(judge::notify::Refusal{.reason = "HTTP 503"});
    co_return act::notify::DeliveryResult();
  }

 private:
  sim::SimRuntime& host_;
  Told& told_;
};

/// A store of which one list or one change takes long.
class FakeSlowStore final : public store::Store {
 public:
  FakeSlowStore(sim::SimRuntime& host, store::Store& store) : host_(host), store_(store) {}

  /// The next list of these keys is answered so much later than it is made.
  void answer_late(std::string prefix, Duration late) {
    late_prefix_ = std::move(prefix);
    late_ = late;
  }

  /// The next change is made so much later than it is asked for.
  void change_late(Duration late) { change_late_ = late; }

  runtime::Task<Result<store::Found>> get(std::string key, runtime::Deadline deadline) override {
    return store_.get(std::move(key), deadline);
  }
  runtime::Task<Result<store::Snapshot>> list(store::KeyRange keys,
                                              runtime::Deadline deadline) override {
    const bool late = keys.begin == late_prefix_;
    if (late) late_prefix_.clear();
    Result<store::Snapshot> found = co_await store_.list(std::move(keys), deadline);
    if (late) co_await host_.sleep_until(host_.now() + late_);
    co_return found;
  }
  runtime::Task<Result<store::Committed>> put_if(store::Transaction transaction,
                                                 runtime::Deadline deadline) override {
    const Duration late = std::exchange(change_late_, Duration::zero());
    if (late > Duration::zero()) co_await host_.sleep_until(host_.now() + late);
    Result<store::Committed> done = co_await store_.put_if(std::move(transaction), deadline);
    co_return done;
  }
  std::unique_ptr<store::Watch> watch(store::KeyRange keys, store::Revision from) override {
    return store_.watch(std::move(keys), from);
  }
  runtime::Task<Result<store::Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    return store_.grant(ttl, deadline);
  }
  runtime::Task<Result<store::Lease>> keep_alive(store::LeaseId lease,
                                                 runtime::Deadline deadline) override {
    return store_.keep_alive(lease, deadline);
  }
  runtime::Task<Result<void>> revoke(store::LeaseId lease, runtime::Deadline deadline) override {
    return store_.revoke(lease, deadline);
  }

 private:
  sim::SimRuntime& host_;
  store::Store& store_;
  std::string late_prefix_;
  Duration late_{};
  Duration change_late_{};
};

class NotifierLeadership : public ::testing::Test {
 protected:
  NotifierLeadership() {
    EXPECT_TRUE(run_task(world_, us_, store_.open()));
    EXPECT_TRUE(run_task(world_, us_, own_.open()));
    feed_.listen(
        [this](const judge::Change& change, const serve::ChangeText&) { incidents_.hear(change); });
    EXPECT_TRUE(run_task(world_, us_, incidents_.open()));
  }
  ~NotifierLeadership() override { world_.run(us_, incidents_.stop()); }

  static config::Config config_of() {
    config::Config config;
    for (const char* const name : {"bird", "web"}) {
      config::Check check;
      check.name = name;
      check.kind = &kFakeKind;
      check.schedule.every = 1s;
      config.checks.push_back(std::move(check));
    }
    return config;
  }
  incidents::NotifierOptions receivers() {
    incidents::NotifierOptions options;
    judge::notify::Route route;
    route.receiver = "person";
    route.group_by = {"root"};
    options.policy.routes.push_back(route);
    options.receivers["person"] = {std::make_unique<FakeReceiver>(us_, told_), 15s, false};
    return options;
  }
  void fail_check(const std::string& name = "bird") {
    using enum judge::State;
    feed_.tell({judge::ThingKind::kCheck, name},
               judge::CheckChanged{kError, kReported, {judge::ReasonCode::kRefused, "refused"}});
  }
  /// The fence of who takes the lead now.
  store::Compare take_lead() {
    store::Transaction taken;
    taken.changes.emplace_back(store::Put{"leader", "x"});
    const auto done = run_task(world_, us_, store_.put_if(taken, us_.deadline_in(1h)));
    EXPECT_TRUE(done);
    return store::Compare::unchanged_since("leader", done->revision);
  }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
  sim::SimDatabase database_{us_, disk_};
  store::EmbeddedStore store_{us_, database_, "boot"};
  sim::SimDisk own_disk_;
  sim::SimDatabase own_database_{us_, own_disk_};
  store::EmbeddedStore own_{us_, own_database_, "boot"};
  act::FakeLeadership leadership_;
  const config::Config config_ = config_of();
  incidents::ChangeFeed feed_{[this] { return us_.wall_now(); }};
  Told told_;
  FakeSlowStore shared_{us_, store_};
  incidents::IncidentManager incidents_{us_,   &shared_,    leadership_,           config_, "us",
                                        feed_, receivers(), depends_of(domains()), &own_};
};

TEST_F(NotifierLeadership, WhoDoesNotLeadTellsNobodyUntilItDoes) {
  leadership_.lose();
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 0U);
  EXPECT_EQ(incidents_.acknowledge(1, "ann", "").error().code, Errc::kRejected);
  EXPECT_EQ(incidents_.notifier().add_silence({}).error().code, Errc::kRejected);
  EXPECT_EQ(incidents_.notifier().expire_silence(1).error().code, Errc::kRejected);
  leadership_.win();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 1U);
  EXPECT_TRUE(incidents_.acknowledge(1, "ann", ""));
}

TEST_F(NotifierLeadership, TheFateOfATestIsKnownAfterOtherNotices) {
  leadership_.win();
  world_.run_for(1min);
  const auto test = incidents_.notifier().send_test("person");
  ASSERT_TRUE(test);
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 2U);
  const auto& state = incidents_.notifier().receivers().at("person");
  ASSERT_TRUE(state.last);
  EXPECT_NE(state.last->key, *test);
  ASSERT_EQ(state.tests.size(), 1U) << "a notice of an incident is no test";
  EXPECT_EQ(state.tests.front().key, *test);
  EXPECT_TRUE(state.tests.front().good);
  for (int number = 0; number < 20; ++number)
    EXPECT_TRUE(incidents_.notifier().send_test("person"));
  world_.run_for(1min);
  EXPECT_EQ(state.tests.size(), 8U);
}

TEST_F(NotifierLeadership, WhatWaitsForASlowReceiverIsToldOnceAlsoWhenTheLeadIsLostAndWonAgain) {
  leadership_.win();
  world_.run_for(1min);
  told_.takes = 20s;
  fail_check("bird");
  fail_check("web");
  ASSERT_TRUE(world_.run_until([&] { return told_.notices == 1; }, 10min));
  const std::string under_way = told_.by_root.begin()->first;
  world_.run_for(5s);
  leadership_.lose();
  leadership_.win();
  world_.run_for(10min);
  ASSERT_EQ(told_.by_root.size(), 2U);
  for (const auto& [root, times] : told_.by_root) {
    // Of what was being told nobody knows how far it came.
    EXPECT_LE(times, root == under_way ? 2 : 1) << root;
  }
}

TEST_F(NotifierLeadership, WhatAnAttemptOfAnEarlierLeadHasToldIsNotToldAgain) {
  leadership_.win();
  world_.run_for(1min);
  told_.takes = 14s;
  fail_check("bird");
  ASSERT_TRUE(world_.run_until([&] { return told_.notices == 1; }, 10min));
  world_.run_for(5s);
  leadership_.lose();
  leadership_.win();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 1U);
}

/// It is told again, and that the first attempt failed says nothing about the second one.
TEST_F(NotifierLeadership, AnAttemptOfAnEarlierLeadThatFailsIsNotTriedTwice) {
  leadership_.win();
  world_.run_for(1min);
  told_.takes = 14s;
  told_.refuses = 1;
  fail_check("bird");
  ASSERT_TRUE(world_.run_until([&] { return told_.notices == 1; }, 10min));
  world_.run_for(5s);
  leadership_.lose();
  leadership_.win();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 2U);
}

TEST_F(NotifierLeadership, WhatWasReadUnderALeadThatIsLostTellsNobodyUnderTheNext) {
  leadership_.win();
  world_.run_for(1min);
  told_.takes = 1s;
  fail_check();
  ASSERT_TRUE(world_.run_until([&] { return told_.notices == 1; }, 10min));
  // It is not written down that it was taken.
  leadership_.lose();
  world_.run_for(5s);
  shared_.answer_late("notify/group/", 10s);
  leadership_.win();
  world_.run_for(1s);
  leadership_.lose();
  leadership_.win();
  world_.run_for(5s);
  EXPECT_EQ(told_.notices, 2U) << "nobody knew that it was told";
  world_.run_for(1min);
  EXPECT_EQ(told_.notices, 2U) << "what the first lead had read is old";
}

TEST_F(NotifierLeadership, WhatIsBeingWrittenWhenTheLeadIsLostAndWonAgainIsReadAfterwards) {
  leadership_.win();
  world_.run_for(1min);
  fail_check();
  ASSERT_TRUE(world_.run_until([&] { return told_.notices == 1; }, 10min));
  // That it was taken.
  shared_.change_late(5s);
  world_.run_for(2s);
  leadership_.lose();
  leadership_.win();
  world_.run_for(1min);
  EXPECT_EQ(told_.notices, 1U);
}

TEST_F(NotifierLeadership, UnderALostFenceNobodyIsTold) {
  leadership_.set_fence(take_lead());
  const store::Compare others = take_lead();
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_.notices, 0U) << "another agent leads, and this one does not know";
  EXPECT_TRUE(disk_.rows("SELECT 1 FROM store_kv WHERE key LIKE 'incident/%'").empty());
  EXPECT_FALSE(incidents_.acknowledge(1, "ann", ""));
}

}  // namespace
}  // namespace wardmote::agent
