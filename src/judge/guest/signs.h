#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge::guest {

/// What the hypervisor reports of a guest once, and its pings need not show. It is found as a
/// warning for as long as people need to see it, and is evidence of whatever else is found. Pure.
class Signs {
 public:
  static constexpr Duration kStand = std::chrono::minutes(10);

  /// Nothing in the guest kept its watchdog from firing. virDomainEventWatchdogAction.
  void watchdog(int action, TimePoint now);
  /// QEMU handed the guest an error of a disk.
  void disk_error(std::string_view device, TimePoint now);

  /// Findings of a guest that people call `called`; `key` is its own.
  [[nodiscard]] Conditions conditions(const std::string& called, const std::string& key,
                                      TimePoint now) const;
  [[nodiscard]] std::vector<Evidence> evidence(TimePoint now) const;

 private:
  struct Sign {
    TimePoint since;
    TimePoint last;
    std::string says;
  };
  static void see(std::optional<Sign>& sign, std::string says, TimePoint now);

  std::optional<Sign> watchdog_;
  std::optional<Sign> disk_;
};

}  // namespace wardmote::judge::guest
