#include "codec/tai64n.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "codec/bytes.h"

namespace wardmote::codec {
namespace {

/// To 2242: 64 bits of nanoseconds end in 2262.
constexpr std::uint64_t kMostSeconds = std::uint64_t{1} << 33;
constexpr std::uint32_t kNanosecondsPerSecond = 1'000'000'000;

/// The Unix times at which a leap second had just been inserted, from the eleventh on, because
/// kTaiOfUnixEpoch includes the first ten. A new one must be added here; none is announced.
constexpr auto kLeapSeconds = std::to_array<std::int64_t>(
    {78'796'800,    94'694'400,    126'230'400,  157'766'400, 189'302'400,   220'924'800,
     252'460'800,   283'996'800,   315'532'800,  362'793'600, 394'329'600,   425'865'600,
     489'024'000,   567'993'600,   631'152'000,  662'688'000, 709'948'800,   741'484'800,
     773'020'800,   820'454'400,   867'715'200,  915'148'800, 1'136'073'600, 1'230'768'000,
     1'341'100'800, 1'435'708'800, 1'483'228'800});

}  // namespace

std::optional<WallTime> parse_real_tai64n(std::string_view bytes) noexcept {
  const std::optional<WallTime> counted = parse_tai64n(bytes);
  if (!counted) return std::nullopt;
  std::chrono::seconds leaps{};
  for (const std::int64_t leap : kLeapSeconds) {
    if (*counted - leaps > WallTime(std::chrono::seconds(leap))) ++leaps;
  }
  return *counted - leaps;
}

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
