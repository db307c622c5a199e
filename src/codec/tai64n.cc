#include "codec/tai64n.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "codec/bytes.h"

namespace wardmote::codec {
namespace {

/// What 64 bits of nanoseconds reach, less a year: the end of 2261.
constexpr std::uint64_t kMostSeconds = std::uint64_t{1} << 33;
constexpr std::uint32_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

std::optional<WallTime> parse_tai64n(std::string_view bytes) noexcept {
  if (bytes.size() < kTai64nSize) return std::nullopt;
  const auto label = big_endian<std::uint64_t>(bytes);
  const auto nanoseconds = big_endian<std::uint32_t>(bytes.substr(sizeof label));
  if (label < kTaiOfUnixEpoch || label - kTaiOfUnixEpoch > kMostSeconds) return std::nullopt;
  if (nanoseconds >= kNanosecondsPerSecond) return std::nullopt;
  return WallTime(std::chrono::seconds(label - kTaiOfUnixEpoch) +
                  std::chrono::nanoseconds(nanoseconds));
}

}  // namespace wardmote::codec
