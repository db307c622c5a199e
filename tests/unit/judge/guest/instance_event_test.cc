#include "judge/guest/instance_event.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::judge::guest {
namespace {

std::string told(Happened what, int detail) {
  const auto event = instance_event(what, detail);
  return event ? std::string(event->event) + "/" + std::string(event->vir_domain_event) : "";
}

// masakari-monitors' eventfilter_table.py, row by row, and what it drops.
TEST(InstanceEvent, PassesWhatMasakarisMonitorPasses) {
  using enum Happened;
  const std::vector<std::pair<Happened, std::vector<std::string>>> table = {
      {kSuspended,
       {"", "", "LIFECYCLE/SUSPENDED_IOERROR", "LIFECYCLE/SUSPENDED_WATCHDOG", "", "",
        "LIFECYCLE/SUSPENDED_API_ERROR", ""}},
      {kStopped,
       {"LIFECYCLE/STOPPED_SHUTDOWN", "LIFECYCLE/STOPPED_DESTROYED", "", "", "",
        "LIFECYCLE/STOPPED_FAILED", ""}},
      {kShutdown, {"LIFECYCLE/SHUTDOWN_FINISHED", "", ""}},
      {kReboot, {"REBOOT/UNKNOWN"}},
      {kWatchdog,
       {"WATCHDOG/WATCHDOG_NONE", "WATCHDOG/WATCHDOG_PAUSE", "WATCHDOG/WATCHDOG_RESET",
        "WATCHDOG/WATCHDOG_POWEROFF", "WATCHDOG/WATCHDOG_SHUTDOWN", "WATCHDOG/WATCHDOG_DEBUG", ""}},
      {kIoError,
       {"IO_ERROR/IO_ERROR_NONE", "IO_ERROR/IO_ERROR_PAUSE", "IO_ERROR/IO_ERROR_REPORT", ""}},
      {kIoErrorReason, {"IO_ERROR_REASON/UNKNOWN"}},
      {kControlError, {"CONTROL_ERROR/UNKNOWN"}},
  };
  for (const auto& [what, rows] : table) {
    for (int detail = 0; detail < static_cast<int>(rows.size()); ++detail)
      EXPECT_EQ(told(what, detail), rows[static_cast<std::size_t>(detail)]) << detail;
  }
}

TEST(InstanceEvent, IsChosenByTheWordThatSaysSomething) {
  const std::vector<std::string_view> names = instance_event_names();
  EXPECT_EQ(names.size(), 19U);
  for (const char* const one : {"STOPPED_FAILED", "REBOOT", "IO_ERROR_REASON", "WATCHDOG_RESET"})
    EXPECT_TRUE(std::ranges::count(names, one) == 1) << one;
  EXPECT_EQ(std::ranges::count(names, "UNKNOWN"), 0);
}

}  // namespace
}  // namespace wardmote::judge::guest
