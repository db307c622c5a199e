// Only who leads tells people, and takes the orders about it.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "agent/domains.h"
#include "base/result.h"
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

/// Counts what it is told.
class FakeReceiver final : public act::notify::Channel {
 public:
  explicit FakeReceiver(std::size_t& told) : told_(told) {}

  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice,
                                                  runtime::Deadline) override {
    ++told_;
    co_return act::notify::DeliveryResult();
  }

 private:
  std::size_t& told_;
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
    config::Check check;
    check.name = "bird";
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
    return config;
  }
  incidents::NotifierOptions receivers() {
    incidents::NotifierOptions options;
    judge::notify::Route route;
    route.receiver = "person";
    options.policy.routes.push_back(route);
    options.receivers["person"] = {std::make_unique<FakeReceiver>(told_), 15s, false};
    return options;
  }
  void fail_check() {
    using enum judge::State;
    feed_.tell({judge::ThingKind::kCheck, "bird"},
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
  std::size_t told_ = 0;
  incidents::IncidentManager incidents_{us_,   &store_,     leadership_,           config_, "us",
                                        feed_, receivers(), depends_of(domains()), &own_};
};

TEST_F(NotifierLeadership, WhoDoesNotLeadTellsNobodyUntilItDoes) {
  leadership_.lose();
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_, 0U);
  EXPECT_EQ(incidents_.acknowledge(1, "ann", "").error().code, Errc::kRejected);
  EXPECT_EQ(incidents_.notifier().add_silence({}).error().code, Errc::kRejected);
  EXPECT_EQ(incidents_.notifier().expire_silence(1).error().code, Errc::kRejected);
  leadership_.win();
  world_.run_for(10min);
  EXPECT_EQ(told_, 1U);
  EXPECT_TRUE(incidents_.acknowledge(1, "ann", ""));
}

TEST_F(NotifierLeadership, TheFateOfATestIsKnownAfterOtherNotices) {
  leadership_.win();
  world_.run_for(1min);
  const auto test = incidents_.notifier().send_test("person");
  ASSERT_TRUE(test);
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_, 2U);
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

TEST_F(NotifierLeadership, UnderALostFenceNobodyIsTold) {
  leadership_.set_fence(take_lead());
  const store::Compare others = take_lead();
  fail_check();
  world_.run_for(10min);
  EXPECT_EQ(told_, 0U) << "another agent leads, and this one does not know";
  EXPECT_TRUE(disk_.rows("SELECT 1 FROM store_kv WHERE key LIKE 'incident/%'").empty());
  EXPECT_FALSE(incidents_.acknowledge(1, "ann", ""));
}

}  // namespace
}  // namespace wardmote::agent
