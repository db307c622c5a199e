#include "codec/proc_stat.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::codec {
namespace {

using Ticks = std::chrono::duration<std::int64_t, std::centi>;

// Fields after the name, counted from 0.
constexpr std::size_t kState = 0;
constexpr std::size_t kParent = 1;
constexpr std::size_t kUserTime = 11;
constexpr std::size_t kSystemTime = 12;
constexpr std::size_t kStartTime = 19;

/// More than a century since boot is not a start time; this also fits into nanoseconds.
constexpr std::int64_t kMostTicks = std::int64_t{1} << 39;

}  // namespace

Result<ProcStat> parse_proc_stat(std::string_view text) {
  // The name is in parentheses and may itself contain blanks and parentheses.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2)
    return fail(Errc::kProtocol, "no name in parentheses");
  const auto pid = parse_number<std::uint32_t>(text.substr(0, open));
  std::array<std::string_view, kStartTime + 1> fields;
  std::string_view rest = trim(text.substr(close + 2));
  for (std::string_view& field : fields) field = take_until(rest, ' ');
  if (!pid || fields[kState].size() != 1)
    return fail(Errc::kProtocol, "not the fields of a process");
  const auto parent = parse_number<std::uint32_t>(fields[kParent]);
  const auto ticks = parse_number<std::int64_t>(fields[kStartTime]);
  const auto user = parse_number<std::int64_t>(fields[kUserTime]);
  const auto system = parse_number<std::int64_t>(fields[kSystemTime]);
  const auto sane = [](const std::optional<std::int64_t>& count) {
    return count && *count >= 0 && *count <= kMostTicks;
  };
  if (!parent || !sane(ticks) || !sane(user) || !sane(system))
    return fail(Errc::kProtocol, "not the fields of a process");
  ProcStat stat;
  stat.pid = *pid;
  stat.name = text.substr(open + 2, close - open - 2);
  stat.state = fields[kState].front();
  stat.parent = *parent;
  stat.cpu = Ticks(*user) + Ticks(*system);
  stat.started = TimePoint(Ticks(*ticks));
  return stat;
}

Result<std::uint64_t> parse_proc_rss(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (!consume_prefix(line, "VmRSS:")) continue;
    line = trim(line);
    const auto kilobytes = parse_number<std::uint64_t>(take_until(line, ' '));
    constexpr std::uint64_t kMost = UINT64_MAX / 1024;
    if (kilobytes && *kilobytes <= kMost && line == "kB") return *kilobytes * 1024;
    break;
  }
  return fail(Errc::kProtocol, "no resident size");
}

}  // namespace wardmote::codec
