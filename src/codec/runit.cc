#include "codec/runit.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/tai64n.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kDaemontoolsSize = 18;

// Where the fields are.
constexpr std::size_t kPid = 12;
constexpr std::size_t kPaused = 16;
constexpr std::size_t kWant = 17;
constexpr std::size_t kGotTerm = 18;
constexpr std::size_t kState = 19;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint8_t>(bytes[at]);
}

/// The fields that both formats have. With daemontools `want` may be 0: as the service was started.
Result<RunitStatus> parse_common(std::string_view bytes) {
  RunitStatus status;
  const std::optional<WallTime> changed = parse_tai64n(bytes);
  if (!changed) return fail(Errc::kProtocol, "the time of its last change is none");
  status.changed = *changed;
  status.pid = little_endian<std::uint32_t>(bytes.substr(kPid));
  if (status.pid > INT32_MAX) return fail(Errc::kProtocol, "pid {}", status.pid);
  if (byte_at(bytes, kPaused) > 1)
    return fail(Errc::kProtocol, "byte 16, paused, is {}", byte_at(bytes, kPaused));
  status.paused = bytes[kPaused] != 0;
  status.want_up = bytes[kWant] == 'u';
  return status;
}

}  // namespace

Result<RunitStatus> parse_runit_status(std::string_view bytes) {
  if (bytes.size() != kRunitStatusSize)
    return fail(Errc::kProtocol, "{} bytes instead of {}", bytes.size(), kRunitStatusSize);
  Result<RunitStatus> status = parse_common(bytes);
  if (!status) return status;
  if (bytes[kWant] != 'u' && bytes[kWant] != 'd')
    return fail(Errc::kProtocol, "byte 17, want, is {}", byte_at(bytes, kWant));
  if (byte_at(bytes, kGotTerm) > 1)
    return fail(Errc::kProtocol, "byte 18, got TERM, is {}", byte_at(bytes, kGotTerm));
  if (byte_at(bytes, kState) > 2)
    return fail(Errc::kProtocol, "byte 19, state, is {}", byte_at(bytes, kState));
  status->got_term = bytes[kGotTerm] != 0;
  status->state = static_cast<RunitStatus::State>(bytes[kState]);
  if ((status->state == RunitStatus::State::kDown) != (status->pid == 0))
    return fail(Errc::kProtocol, "state {} with pid {}", byte_at(bytes, kState), status->pid);
  return status;
}

Result<RunitStatus> parse_daemontools_status(std::string_view bytes) {
  if (bytes.size() != kDaemontoolsSize)
    return fail(Errc::kProtocol, "{} bytes instead of {}", bytes.size(), kDaemontoolsSize);
  Result<RunitStatus> status = parse_common(bytes);
  if (!status) return status;
  const char want = bytes[kWant];
  if (want != 'u' && want != 'd' && want != 0)
    return fail(Errc::kProtocol, "byte 17, want, is {}", byte_at(bytes, kWant));
  const bool runs = status->pid != 0;
  status->state = runs ? RunitStatus::State::kRun : RunitStatus::State::kDown;
  // 0 means that the present state is wanted.
  if (want == 0) status->want_up = runs;
  return status;
}

std::string sv_status_text(std::string_view bytes, std::string_view name, bool normally_up,
                           WallTime now) {
  check(bytes.size() >= kRunitStatusSize, "a runit status has 20 bytes");
  constexpr std::string_view kStates[] = {"down: ", "run: ", "finish: "};
  const std::uint8_t state = byte_at(bytes, kState);
  const auto label = big_endian<std::uint64_t>(bytes);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::uint64_t now_label = kTaiOfUnixEpoch + static_cast<std::uint64_t>(seconds);
  // sv.c reads the pid into an int.
  const auto pid = static_cast<std::int32_t>(little_endian<std::uint32_t>(bytes.substr(kPid)));

  std::string text(state < std::size(kStates) ? kStates[state] : "");
  text += fmt::format("{}: ", name);
  if (state != 0) text += fmt::format("(pid {}) ", static_cast<std::uint64_t>(pid));
  text += fmt::format("{}s", now_label < label ? 0 : now_label - label);
  if (pid != 0 && !normally_up) text += ", normally down";
  if (pid == 0 && normally_up) text += ", normally up";
  if (pid != 0 && bytes[kPaused] != 0) text += ", paused";
  if (pid == 0 && bytes[kWant] == 'u') text += ", want up";
  if (pid != 0 && bytes[kWant] == 'd') text += ", want down";
  if (pid != 0 && bytes[kGotTerm] != 0) text += ", got TERM";
  return text;
}

}  // namespace wardmote::codec
