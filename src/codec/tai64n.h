#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote::codec {

// Our own code: skalibs, as Debian builds it, subtracts the leap seconds of a date, while runit and
// daemontools write ten for all times; the conversion for those, and the checks, would be ours
// anyway.

inline constexpr std::size_t kTai64nSize = 12;

/// Seconds of the label of 1970-01-01T00:00:00Z as the supervisors write it: 2^62, and the ten leap
/// seconds of 1972, which they use for all times (cr.yp.to/libtai/tai64.html).
inline constexpr std::uint64_t kTaiOfUnixEpoch = (std::uint64_t{1} << 62) + 10;

/// As parse_tai64n(), for a label of real TAI, as those of skalibs and s6 are: subtracts the leap
/// seconds up to its own day, 37 since 2017 (IERS Bulletin C).
std::optional<WallTime> parse_real_tai64n(std::string_view bytes) noexcept;

/// A TAI64N label: eight bytes of seconds and four of nanoseconds, big-endian. Nothing when there
/// are fewer bytes, when it is outside the years 1970 to 2242, or when it has more than a second of
/// nanoseconds.
std::optional<WallTime> parse_tai64n(std::string_view bytes) noexcept;

}  // namespace wardmote::codec
