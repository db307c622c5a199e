#pragma once

#include <cstdint>
#include <string_view>

namespace wardmote::cli {

/// The exit code of the process. The first four make every reading command a monitoring plugin; the
/// others are those of sysexits.h.
enum class Exit : std::uint8_t {
  kGood = 0,
  kWarning = 1,
  kCritical = 2,
  kUnknown = 3,
  kUsage = 64,
  kBadConfig = 65,
  kUnreachable = 69,
  kTemporary = 75,
  kPermission = 77,
  kInterrupted = 130,
};

/// The worse of two of the first four. The order is critical, warning, unknown, good.
Exit worse(Exit a, Exit b) noexcept;

/// Of `ok|warning|critical|unknown` (a verdict) and `ok|warn|fail|unknown` (an outcome); unknown
/// for any other word.
Exit exit_of_verdict(std::string_view word) noexcept;

/// Of `info|warning|critical`; unknown for any other word.
Exit exit_of_severity(std::string_view word) noexcept;

}  // namespace wardmote::cli
