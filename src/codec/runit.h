#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// `supervise/status` of runit (20 bytes; runit 2.1.2 runsv.c update_status) and of daemontools (18
/// bytes, without the last two; daemontools 0.76 supervise.c announce).
struct RunitStatus {
  enum class State : std::uint8_t { kDown, kRun, kFinish };

  WallTime changed;       ///< of the state
  std::uint32_t pid = 0;  ///< of the service or its finish script; 0 when down
  bool paused = false;
  bool want_up = false;
  bool got_term = false;  ///< runit only
  State state = State::kDown;
  friend bool operator==(const RunitStatus&, const RunitStatus&) = default;
};

inline constexpr std::size_t kRunitStatusSize = 20;

/// kProtocol when it is not exactly one status: another size, an invalid time, or fields that
/// contradict each other.
Result<RunitStatus> parse_runit_status(std::string_view bytes);
/// A service without a pid is down, any other runs.
Result<RunitStatus> parse_daemontools_status(std::string_view bytes);

/// What `sv status` (runit 2.1.2 sv.c svstatus_print) prints for the first 20 bytes of a status,
/// without a line end: `run: bird: (pid 412) 4s, want down, got TERM`. sv checks nothing, so
/// nonsense gives nonsense. `normally_up`: there is no file `down`. Precondition: at least 20
/// bytes.
std::string sv_status_text(std::string_view bytes, std::string_view name, bool normally_up,
                           WallTime now);

}  // namespace wardmote::codec
