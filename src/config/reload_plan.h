#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "act/kubernetes/options.h"
#include "config/config.h"
#include "config/failover.h"
#include "config/version_gates.h"

namespace wardmote::config {

/// What becomes of one cluster or check of a new configuration; the later, the more is new.
enum class ReloadAction : std::uint8_t {
  kKept,     ///< the same as before: nothing of it is touched
  kRetimed,  ///< looks at the same, on another schedule, by another policy, with another
             ///< expectation or other members, or below other things: it looks anew and keeps what
             ///< it knows
  kBegun,    ///< new, or looks at something else under its name: it begins from nothing
};

struct Arrival {
  ReloadAction action = ReloadAction::kBegun;
  std::size_t was = 0;  ///< index in the old configuration, unless its name is new
};

/// The way from one configuration to another.
struct ReloadPlan {
  std::vector<Arrival> clusters;   ///< in the order of the new configuration
  std::vector<Arrival> checks;     ///< the same
  std::vector<std::string> ended;  ///< names of checks that stop looking as they did: all but those
                                   ///< that are kept

  /// How many checks, those of clusters too, have this action.
  [[nodiscard]] std::size_t count(ReloadAction action) const noexcept;
};

/// By name: what is the same apart from its place in the file is kept. Pure.
ReloadPlan plan_reload(const config::Config& from, const config::Config& to);

/// What of a configuration counts from a start of the agent on. Not all of it is kept: it may have
/// ten thousand checks.
struct FromTheStart {
  explicit FromTheStart(const Config& config);
  /// The keys that say something else in `now`.
  [[nodiscard]] std::vector<std::string> differs_in(const Config& now) const;

  std::string data;
  std::optional<Store> store;
  std::vector<VersionGate> version_gates;
  std::vector<Failover> failover;
  std::optional<act::kubernetes::NodeConditionsOptions> node_conditions;
};

}  // namespace wardmote::config
