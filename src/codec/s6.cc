#include "codec/s6.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/tai64n.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kSize = 35;
constexpr std::size_t kSizeWithGroup = 43;
constexpr std::size_t kReadyStamp = 12;
constexpr std::size_t kPid = 24;
// The wait status and the flags are last in both formats.
constexpr std::size_t kWaitStatusFromEnd = 3;

constexpr std::uint8_t kPaused = 1;
constexpr std::uint8_t kFinishing = 2;
constexpr std::uint8_t kWantUp = 4;
constexpr std::uint8_t kReady = 8;

constexpr std::size_t kDeathSize = kTai64nSize + 2;

/// wait(2): the exit code in the upper byte, the signal in the lower seven bits of the lower one.
ProcessEnd end_of(std::uint16_t wait_status) noexcept {
  const auto signal = static_cast<std::uint8_t>(wait_status & 0x7f);
  return {static_cast<std::uint8_t>(signal == 0 ? wait_status >> 8 : 0), signal};
}

}  // namespace

Result<S6Status> parse_s6_status(std::string_view bytes) {
  if (bytes.size() != kSize && bytes.size() != kSizeWithGroup)
    return fail(Errc::kProtocol, "{} bytes instead of {} or {}", bytes.size(), kSize,
                kSizeWithGroup);
  S6Status status;
  const std::optional<WallTime> changed = parse_real_tai64n(bytes);
  if (!changed) return fail(Errc::kProtocol, "the time of its last change is none");
  status.changed = *changed;
  // The timestamp of a service that was never ready may have any value.
  status.ready_changed = parse_real_tai64n(bytes.substr(kReadyStamp)).value_or(*changed);
  status.pid = big_endian<std::uint64_t>(bytes.substr(kPid));
  if (status.pid > INT32_MAX) return fail(Errc::kProtocol, "pid {}", status.pid);
  status.last_end =
      end_of(big_endian<std::uint16_t>(bytes.substr(bytes.size() - kWaitStatusFromEnd)));
  const auto flags = static_cast<std::uint8_t>(bytes.back());
  status.paused = (flags & kPaused) != 0;
  status.finishing = (flags & kFinishing) != 0;
  status.want_up = (flags & kWantUp) != 0;
  status.ready = (flags & kReady) != 0;
  return status;
}

Result<std::vector<S6Death>> parse_s6_death_tally(std::string_view bytes) {
  if (bytes.size() % kDeathSize != 0 || bytes.size() > kLargestS6Tally)
    return fail(Errc::kProtocol, "{} bytes are not a number of deaths", bytes.size());
  std::vector<S6Death> deaths;
  for (; !bytes.empty(); bytes.remove_prefix(kDeathSize)) {
    const std::optional<WallTime> at = parse_real_tai64n(bytes);
    if (!at) return fail(Errc::kProtocol, "the time of a death is none");
    deaths.push_back({*at,
                      {static_cast<std::uint8_t>(bytes[kTai64nSize]),
                       static_cast<std::uint8_t>(bytes[kTai64nSize + 1])}});
  }
  return deaths;
}

}  // namespace wardmote::codec
