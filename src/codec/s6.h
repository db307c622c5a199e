#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// How a process ended.
struct ProcessEnd {
  std::uint8_t exit_code = 0;  ///< when no signal ended it
  std::uint8_t signal = 0;     ///< 0: none
  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;
};

/// `supervise/status` of s6: 35 bytes since 2.3, 43 bytes with the process group since 2.12
/// (libs6/s6_svstatus_unpack.c).
struct S6Status {
  WallTime changed;
  WallTime ready_changed;  ///< equal to `changed` until the service was ready for the first time
  std::uint64_t pid = 0;   ///< 0 when down
  ProcessEnd last_end;     ///< of the previous process; all zero when there was none
  bool paused = false;
  bool finishing = false;
  bool want_up = false;
  bool ready = false;
  friend bool operator==(const S6Status&, const S6Status&) = default;
};

/// kProtocol when it is not exactly one status.
Result<S6Status> parse_s6_status(std::string_view bytes);

/// One entry of `supervise/death_tally`: the service ended, for whatever reason.
struct S6Death {
  WallTime at;
  ProcessEnd end;
  friend bool operator==(const S6Death&, const S6Death&) = default;
};

/// The size of 4096 entries, the most that s6-supervise keeps.
inline constexpr std::size_t kLargestS6Tally = std::size_t{4096} * 14;

/// In the order of the file, the oldest first. kProtocol when it is not a whole number of entries
/// of 14 bytes (libs6/s6_dtally_unpack.c).
Result<std::vector<S6Death>> parse_s6_death_tally(std::string_view bytes);

}  // namespace wardmote::codec
