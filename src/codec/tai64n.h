#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote::codec {

inline constexpr std::size_t kTai64nSize = 12;

/// Seconds of the label of 1970-01-01T00:00:00Z as the supervisors write it: 2^62, and the ten leap
/// seconds of 1972, which they take for all times (cr.yp.to/libtai/tai64.html).
inline constexpr std::uint64_t kTaiOfUnixEpoch = (std::uint64_t{1} << 62) + 10;

/// A TAI64N label: eight bytes of seconds and four of nanoseconds, big-endian. Nothing when there
/// are fewer bytes, when it is no label of the years 1970 to 2242, or when it has more than a
/// second of nanoseconds.
std::optional<WallTime> parse_tai64n(std::string_view bytes) noexcept;

}  // namespace wardmote::codec
