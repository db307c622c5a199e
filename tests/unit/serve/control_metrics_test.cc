#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "serve/incidents.h"
#include "serve/metrics/metrics.h"
#include "serve/notify_control.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/serve/fake_plan_control.h"

namespace wardmote::serve {
namespace {

using judge::notify::Silence;
using namespace std::chrono_literals;

constexpr TimePoint kNow{10h};
constexpr WallTime kWallNow{1000h};

class FakeIncidents final : public IncidentControl {
 public:
  const judge::incident::Book& book() const noexcept override { return book_; }
  Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) override {
    book_.acknowledge(id, std::move(by), std::move(comment), kNow);
    return {};
  }
  std::shared_ptr<runtime::HttpHold> written() override { return nullptr; }
  void fail_check(const std::string& name, judge::Severity severity) {
    const std::string thing = "check:" + name;
    book_.raise({.owner = thing,
                 .component = thing,
                 .code = judge::Code::kCheckFailed,
                 .severity = severity,
                 .names = {},
                 .summary = "it fails",
                 .since = kNow},
                kNow);
  }

 private:
  judge::incident::Book book_{judge::incident::Graph()};
};

class FakeNotify final : public NotifyControl {
 public:
  const judge::notify::Router& router() const noexcept override { return router_; }
  const judge::notify::Muting& muting() const noexcept override { return muting_; }
  const std::map<std::string, ReceiverState>& receivers() const noexcept override { return states; }
  const std::deque<judge::notify::DeadLetter>& dead_letters() const noexcept override {
    return dead_;
  }
  std::shared_ptr<runtime::HttpHold> written() override { return nullptr; }
  Result<Silence> add_silence(Silence silence) override {
    silence.id = muting_.next_id();
    muting_.put(silence);
    return silence;
  }
  void configure(std::vector<Silence> silences) { muting_.set_configured(std::move(silences)); }
  Result<void> expire_silence(std::int64_t) override { return {}; }
  Result<std::string> send_test(const std::string& receiver) override { return receiver; }
  Result<judge::notify::Labels> complete(const judge::notify::Labels& given) const override {
    return given;
  }

  std::map<std::string, ReceiverState> states;

 private:
  judge::notify::Router router_{judge::notify::RouterPolicy()};
  judge::notify::Muting muting_{{}};
  std::deque<judge::notify::DeadLetter> dead_;
};

class ControlMetrics : public ::testing::Test {
 protected:
  std::string shown() {
    AgentView view;
    view.now = kNow;
    view.wall_now = kWallNow;
    const Controls controls{incidents, notify, plans};
    return expose_metrics(view, &controls);
  }
  FakeIncidents incidents;
  FakeNotify notify;
  sim::World world{1};
  FakePlanControl plans;
};

TEST_F(ControlMetrics, CountOpenIncidentsAlsoWhenThereAreNone) {
  EXPECT_TRUE(shown().contains(
      "wardmote_incidents_open{severity=\"critical\",acknowledged=\"false\"} 0\n"));
  incidents.fail_check("a", judge::Severity::kCritical);
  incidents.fail_check("b", judge::Severity::kCritical);
  incidents.fail_check("c", judge::Severity::kWarning);
  ASSERT_TRUE(incidents.acknowledge(1, "ann", ""));
  const std::string text = shown();
  for (const char* line :
       {"wardmote_incidents_open{severity=\"critical\",acknowledged=\"false\"} 1\n",
        "wardmote_incidents_open{severity=\"critical\",acknowledged=\"true\"} 1\n",
        "wardmote_incidents_open{severity=\"warning\",acknowledged=\"false\"} 1\n",
        "wardmote_acts_frozen 0\n"}) {
    EXPECT_TRUE(text.contains(line)) << text;
  }
}

TEST_F(ControlMetrics, SayHowTellingPeopleGoes) {
  notify.states["oncall"] = {
      .kind = "webhook", .delivered = 5, .refused = 2, .dead = 1, .repeated = 4};
  EXPECT_FALSE(shown().contains("wardmote_receiver_up{")) << "nothing is known yet";
  notify.states["oncall"].last = {.key = "", .good = false, .reason = "", .at = kNow};
  EXPECT_TRUE(notify.add_silence({.from = kWallNow - 1h, .until = kWallNow + 1h}));
  EXPECT_TRUE(notify.add_silence({.from = kWallNow - 2h, .until = kWallNow - 1h}));
  notify.configure({{.from = kWallNow - 1h, .until = kWallNow + 1h, .name = "upgrade"},
                    {.from = kWallNow + 1h, .until = kWallNow + 2h, .name = "later"}});
  const std::string text = shown();
  for (const char* line :
       {"wardmote_notices_total{receiver=\"oncall\",kind=\"webhook\",result=\"delivered\"} 5\n",
        "wardmote_notices_total{receiver=\"oncall\",kind=\"webhook\",result=\"refused\"} 2\n",
        "wardmote_notices_total{receiver=\"oncall\",kind=\"webhook\",result=\"undelivered\"} 1\n",
        "wardmote_notices_total{receiver=\"oncall\",kind=\"webhook\",result=\"repeated\"} 4\n",
        "wardmote_receiver_up{receiver=\"oncall\",kind=\"webhook\"} 0\n",
        "wardmote_notices_waiting{receiver=\"oncall\"} 0\n", "wardmote_notice_groups 0\n",
        "wardmote_silences 2\n"}) {
    EXPECT_TRUE(text.contains(line)) << text;
  }
}

TEST_F(ControlMetrics, CountPlansByTheirStateAndTheRowsOfTheJournal) {
  plans.actions_.push_back({.sequence = 1, .kind = "proposed", .plan = 3});
  ASSERT_TRUE(plans.pause("", 1h, "ann"));
  ASSERT_TRUE(plans.pause("nb", -1h, "ann")) << "that is over";
  const std::string text = shown();
  for (const char* line :
       {"wardmote_plans{state=\"proposed\"} 0\n", "wardmote_plans{state=\"unclear\"} 1\n",
        "wardmote_plans{state=\"withdrawn\"} 0\n", "wardmote_acts_paused{scope=\"all\"} 1\n",
        "wardmote_journal_rows 1\n", "wardmote_journal_stored 0\n"}) {
    EXPECT_TRUE(text.contains(line)) << line << text;
  }
  EXPECT_FALSE(text.contains("scope=\"nb\""));
}

}  // namespace
}  // namespace wardmote::serve
