#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "codec/domain_xml.h"
#include "config/config.h"
#include "config/guest_policy.h"
#include "config/guests.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "observe/kinds.h"
#include "runtime/hypervisor.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

auto parse(std::string_view guests) {
  return parse_config(fmt::format("guests: {}\n", guests), observe::probe_kinds());
}

std::vector<std::string> complaints(std::string_view guests) {
  const auto config = parse(guests);
  std::vector<std::string> lines;
  if (config) return lines;
  for (const Problem& problem : config.error())
    lines.push_back(fmt::format("{}: {}", problem.what, problem.why));
  return lines;
}

TEST(GuestsConfig, IsEnoughToWatchSomething) {
  const auto config = parse("{every: 10s}");
  ASSERT_TRUE(config);
  ASSERT_TRUE(config->guests);
  EXPECT_EQ(*config->guests, Guests());
  EXPECT_EQ(config->guests->policy.timeout, 2s);
  ASSERT_EQ(config->checks.size(), 1U);
  EXPECT_EQ(config->checks[0].name, "guests");
  EXPECT_EQ(config->checks[0].kind, &guests_kind());
  ASSERT_EQ(config->gates.size(), 1U);
  EXPECT_EQ(config->gates[0].all, std::vector<std::string>{"guests"});
}

TEST(GuestsConfig, SaysHowGuestsMayBeRestarted) {
  const auto config = parse("{restart: {nova: true, dump: 2m}}");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->guests->policy.restart.nova);
  EXPECT_EQ(config->guests->policy.restart.dump, 2min);
  EXPECT_FALSE(Guests().policy.restart.nova);
  EXPECT_EQ(Guests().policy.restart.dump, 0s);
  EXPECT_FALSE(complaints("{restart: {dump: 2h}}").empty());
  EXPECT_FALSE(complaints("{restart: {often: true}}").empty());
}

TEST(GuestsConfig, HasWindowsOfMaintenance) {
  const auto config = parse(
      "{maintenance: [{guests: ['web-*'], window: '2026-11-25T02:00:00Z for 2h every 168h'}, "
      "{window: '2026-12-24T00:00:00Z for 72h'}]}");
  ASSERT_TRUE(config);
  const std::vector<Maintenance>& all = config->guests->maintenance;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].guests, std::vector<std::string>{"web-*"});
  EXPECT_EQ(all[0].window.every, 168h);
  EXPECT_EQ(all[1].guests, std::vector<std::string>{"*"});
  EXPECT_EQ(all[1].window.length, 72h);
  EXPECT_FALSE(complaints("{maintenance: [{guests: [web]}]}").empty());
  EXPECT_FALSE(complaints("{maintenance: [{window: 'tonight'}]}").empty());
  EXPECT_FALSE(complaints("{maintenance: {window: '2026-12-24T00:00:00Z for 72h'}}").empty());
}

TEST(GuestsConfig, AGuestHasTheWindowsOfItsNameAndItsOwn) {
  const auto config = parse(
      "{maintenance: [{guests: ['web-*'], window: '2026-11-25T02:00:00Z for 2h'}, "
      "{guests: [db], window: '2026-12-24T00:00:00Z for 72h'}]}");
  ASSERT_TRUE(config);
  codec::DomainXml xml;
  xml.name = "web-1";
  xml.policy = codec::DomainPolicy{{{"maintenance", "2027-01-01T00:00:00Z for 1h"},
                                    {"restart", "no"},
                                    {"maintenance", "never"}}};
  std::vector<std::string> complaints;
  const judge::guest::Policy policy = guest_policy(xml, *config->guests, complaints);
  ASSERT_EQ(policy.maintenance.size(), 2U);
  EXPECT_EQ(policy.maintenance[0].length, 2h);
  EXPECT_EQ(policy.maintenance[1].length, 1h);
  EXPECT_EQ(policy.restart.wanted, false);
  EXPECT_EQ(complaints.size(), 1U);
}

TEST(GuestsConfig, TakesAllOfIt) {
  const auto config = parse(
      "{name: kvm, uri: 'qemu+unix:///session', every: 1s, timeout: 500ms, threshold: 5, "
      "boot_deadline: 2m, rules: masakari, pause_resets: true, ignore: ['build-*'], "
      "channel_path: '/var/*', response_timeout: 2s, optional: true}");
  ASSERT_TRUE(config);
  const Guests& guests = *config->guests;
  EXPECT_EQ(guests.name, "kvm");
  EXPECT_EQ(guests.policy.interval, 1s);
  EXPECT_EQ(guests.policy.timeout, 500ms);
  EXPECT_EQ(guests.policy.threshold, 5);
  EXPECT_EQ(guests.policy.boot_deadline, 2min);
  EXPECT_TRUE(guests.policy.compat);
  EXPECT_TRUE(guests.policy.compat_pause_resets);
  EXPECT_EQ(guests.ignore, std::vector<std::string>{"build-*"});
  EXPECT_EQ(guests.response_timeout, 2s);
  EXPECT_TRUE(config->checks[0].schedule.optional);
}

TEST(GuestsConfig, ChoosesOfWhichEventsMasakariIsTold) {
  using runtime::HypervisorEvent;
  const auto told = [](const std::string& keys, decltype(HypervisorEvent::what) what) {
    const auto config = parse_config(
        fmt::format("notify: {{receivers: [{{name: m, timeout: 30s, masakari: {{type: instance, "
                    "url: 'http://m/v1'}}}}]}}\nguests: {{every: 10s{}}}\n",
                    keys),
        observe::probe_kinds());
    std::string all;
    if (!config) return std::string("refused");
    const HypervisorEvent event{.uuid = "u", .name = "web", .at = {}, .what = std::move(what)};
    for (const auto& one : events_for_masakari(*config, event))
      all += std::string(one.name()) + " ";
    return all;
  };
  const HypervisorEvent::IoError report{2, "vda", ""};
  const HypervisorEvent::Lifecycle failed{5, 5};
  EXPECT_EQ(told("", report), "") << "it is told of nothing unless it is named";
  EXPECT_EQ(told(", masakari: m", report), "IO_ERROR_REPORT IO_ERROR_REASON ");
  EXPECT_EQ(told(", masakari: m", HypervisorEvent::Lifecycle{5, 1}), "STOPPED_DESTROYED ");
  EXPECT_EQ(told(", masakari: m", HypervisorEvent::Lifecycle{3, 0}), "") << "a person paused it";
  EXPECT_EQ(told(", masakari: m", failed), "") << "that is an incident, and is told once";
  EXPECT_EQ(told(", masakari: m, masakari_events: ['IO_ERROR_R*']", report),
            "IO_ERROR_REPORT IO_ERROR_REASON ");
  EXPECT_EQ(told(", masakari: m, masakari_events: [REBOOT]", report), "");
  EXPECT_EQ(told(", masakari: m, masakari_events: [REBOOT]", HypervisorEvent::Reboot{}), "REBOOT ");
  EXPECT_EQ(told(", masakari: m, masakari_events: []", HypervisorEvent::Reboot{}), "");
  EXPECT_EQ(told(", masakari: m, masakari_events: [RTC_CHANGE]", report), "refused");
}

TEST(GuestsConfig, APingThatWaitsAsLongAsTheIntervalIsShortened) {
  const auto config = parse("{every: 1s}");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->guests->policy.timeout, 900ms);
}

TEST(GuestsConfig, AsksForAllInsideUnlessToldNotTo) {
  const judge::guest::InsidePolicy all;
  EXPECT_EQ(parse("{every: 10s}")->guests->policy.inside, all);
  const auto some = parse(
      "{inside: {freeze: false, clock_drift: 1s, file_systems: false, frozen_after: 30m, "
      "full_percent: 99}, max_alarms: 0, alarm_window: 24h}");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->guests->policy.inside, (judge::guest::InsidePolicy{.freeze = false,
                                                                     .clock = true,
                                                                     .file_systems = false,
                                                                     .frozen_after = 30min,
                                                                     .clock_drift = 1s,
                                                                     .full_percent = 99}));
  EXPECT_EQ(some->guests->policy.max_alarms, 0);
  EXPECT_EQ(some->guests->policy.alarm_window, 24h);
}

TEST(GuestsConfig, ByMasakarisRulesAgentsAreOnlyPinged) {
  const judge::guest::InsidePolicy none{.freeze = false, .clock = false, .file_systems = false};
  EXPECT_EQ(parse("{rules: masakari}")->guests->policy.inside, none);
  EXPECT_EQ(parse("{rules: masakari, inside: {clock: false}}")->guests->policy.inside,
            judge::guest::InsidePolicy{.clock = false})
      << "unless somebody wants it";
}

TEST(GuestsConfig, SaysWhatIsWrong) {
  EXPECT_EQ(complaints("{every: 1s, timeout: 2s}"),
            std::vector<std::string>{"timeout 2s: longer than every (1s)"});
  EXPECT_EQ(complaints("{rules: mine}"),
            std::vector<std::string>{"rules: there are no such rules"});
  EXPECT_EQ(complaints("{threshold: 0}").size(), 1U);
  EXPECT_EQ(complaints("{every: 1ms}").size(), 1U);
  EXPECT_EQ(complaints("{inside: {full_percent: 101}}").size(), 1U);
  EXPECT_EQ(complaints("{inside: {thaw: true}}").size(), 1U);
  EXPECT_EQ(complaints("{alarm_window: 1s}").size(), 1U);
  EXPECT_EQ(complaints("[]").size(), 1U);
}

TEST(GuestsConfig, ItsNameIsThatOfACheck) {
  EXPECT_FALSE(
      parse_config("checks: [{name: guests, tcp: {address: 'h:1'}}]\nguests: {every: 1s}\n",
                   observe::probe_kinds()));
}

}  // namespace
}  // namespace wardmote::config
