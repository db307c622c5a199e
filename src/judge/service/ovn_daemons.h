#pragma once
// The daemons between OVN's databases and its hosts: ovn-northd, ovn-controller, ovs-vswitchd.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// The `status` of ovn-northd. Of several that share a southbound database one is active.
enum class NorthdState : std::uint8_t { kUnknown, kActive, kStandby, kPaused };
std::string_view to_string(NorthdState state) noexcept;

struct NorthdFacts {
  NorthdState state = NorthdState::kUnknown;
  std::optional<bool> northbound;  ///< connected; nothing: it does not say (OVN before 20.06)
  std::optional<bool> southbound;
};

struct NorthdPolicy {
  bool active = false;  ///< it must be the active one
};

/// Pure.
Judgement judge_northd(const NorthdFacts& facts, const NorthdPolicy& policy);

/// Counts how often a connection was lost, as looks show it. A value.
class LossCounter {
 public:
  /// Adds one look; returns the losses within the last kWindow.
  std::size_t feed(bool connected, TimePoint now);

  static constexpr Duration kWindow = std::chrono::minutes(5);

 private:
  bool connected_ = false;
  std::vector<TimePoint> losses_;
};

/// The southbound database, asked at the same time.
struct SouthboundFacts {
  bool serves = false;                 ///< it answers, and has a quorum
  std::optional<std::uint64_t> index;  ///< the last applied, of a clustered one
};

struct ControllerFacts {
  bool connected = false;  ///< to the southbound database
  bool paused = false;     ///< debug/pause
  std::size_t losses = 0;  ///< of the connection, within LossCounter::kWindow
  std::optional<SouthboundFacts> southbound;
};

/// A controller that is not connected while the database serves others does not follow it. Pure.
Judgement judge_controller(const ControllerFacts& facts);

struct VswitchdFacts {
  ProcessFacts process;
  std::string version;  ///< `3.1.0`; empty: its control socket was not asked
  /// Of the row `Open_vSwitch`: what the configuration is at, and what of it is in force.
  std::optional<std::int64_t> next_cfg;
  std::optional<std::int64_t> cur_cfg;
  Duration behind{};                ///< how long `cur_cfg` has been this far behind
  std::size_t faulty = 0;           ///< interfaces with an `error`
  std::vector<std::string> errors;  ///< of the first of them: `vnet3: could not open …`
};

struct VswitchdPolicy {
  Duration longest_behind = std::chrono::seconds(10);
};

/// Since when the configuration has not moved on while it is behind. A value.
class BehindClock {
 public:
  Duration feed(std::int64_t next, std::int64_t current, TimePoint now) noexcept;

 private:
  std::optional<TimePoint> since_;
  std::int64_t current_ = 0;
};

/// `waiting`: from WaitingClock. Pure.
Judgement judge_vswitchd(const VswitchdFacts& facts, const VswitchdPolicy& policy,
                         Duration waiting);

}  // namespace wardmote::judge
