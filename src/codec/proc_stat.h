#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// The needed fields of `/proc/PID/stat` (proc(5)).
struct ProcStat {
  std::uint32_t pid = 0;
  std::string name;  ///< the first 15 bytes of the program's name; may contain anything
  char state = '?';  ///< R running, S sleeping, D waiting for a disk, T stopped, Z zombie, …
  std::uint32_t parent = 0;
  Duration cpu{};     ///< used by it so far, to a hundredth of a second
  TimePoint started;  ///< to a hundredth of a second
  friend bool operator==(const ProcStat&, const ProcStat&) = default;
};

inline constexpr std::size_t kLargestProcStat = 4096;

/// kProtocol when it is malformed. The kernel counts start times in USER_HZ, 100 on all machines
/// but the Alpha, since boot, suspend included.
Result<ProcStat> parse_proc_stat(std::string_view text);

/// `VmRSS:` of `/proc/PID/status` in bytes. kProtocol when it is missing, as for a kernel thread or
/// a zombie.
Result<std::uint64_t> parse_proc_rss(std::string_view text);

}  // namespace wardmote::codec
