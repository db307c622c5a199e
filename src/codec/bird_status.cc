#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "codec/bird.h"
#include "codec/bird_parts.h"

namespace wardmote::codec {
namespace {

constexpr unsigned kVersion = 1000;
constexpr unsigned kUptime = 1011;
constexpr unsigned kRestart = 24;
constexpr unsigned kStatus = 13;

struct ClockLine {
  std::string_view words;
  std::string BirdStatus::* into;
};

constexpr auto kClockLines = std::to_array<ClockLine>({
    {"Router ID is ", &BirdStatus::router_id},
    {"Hostname is ", &BirdStatus::hostname},
    {"Current server time is ", &BirdStatus::server_time},
    {"Last reboot on ", &BirdStatus::last_reboot},
    {"Last reconfiguration on ", &BirdStatus::last_reconfiguration},
});

struct ConditionLine {
  std::string_view words;
  BirdCondition condition;
};

constexpr auto kConditions = std::to_array<ConditionLine>({
    {"Daemon is up and running", BirdCondition::kRunning},
    {"Reconfiguration in progress", BirdCondition::kReconfiguring},
    {"Shutdown in progress", BirdCondition::kShuttingDown},
});

/// `238`, `238.163`: seconds as milliseconds.
std::optional<std::uint64_t> read_seconds(std::string_view text) noexcept {
  constexpr std::uint64_t kMost = 1'000'000'000;
  const std::string_view whole = take_until(text, '.');
  const auto seconds = parse_number<std::uint64_t>(whole);
  if (!seconds || *seconds > kMost) return std::nullopt;
  std::uint64_t ms = 0;
  if (!text.empty()) {
    const auto fraction = parse_number<std::uint64_t>(text);
    if (!fraction || text.size() != 3) return std::nullopt;
    ms = *fraction;
  }
  return *seconds * 1000 + ms;
}

}  // namespace

std::string_view take_bird_word(std::string_view& rest) noexcept {
  rest = trim(rest);
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return word;
}

std::optional<BirdTimer> read_bird_timer(std::string_view text) noexcept {
  const std::string_view left = take_until(text, '/');
  const auto left_ms = read_seconds(left);
  if (!left_ms) return std::nullopt;
  if (text.empty() || text == "-") return BirdTimer{*left_ms, std::nullopt};
  const auto total_ms = read_seconds(text);
  if (!total_ms) return std::nullopt;
  return BirdTimer{*left_ms, total_ms};
}

Result<void> BirdStatusParser::read(const BirdLine& line) {
  if (const auto refusal = bird_refusal(line)) return std::unexpected(*refusal);
  ended_ = line.last;
  const bool closing = line.code == kStatus;
  if (line.last != (closing && line.head))
    return fail(Errc::kProtocol, "show status: it ends with {:04}", line.code);
  switch (line.code) {
    case kVersion: {
      std::string_view text = trim(line.text);
      if (!line.head || !consume_prefix(text, "BIRD ")) {
        status_.unknown.add(line.text);
      } else {
        status_.version = text;
      }
      break;
    }
    case kUptime: read_clock(line); break;
    case kRestart: read_restart(line); break;
    case kStatus: {
      const auto known = std::ranges::find(kConditions, trim(line.text), &ConditionLine::words);
      if (known == kConditions.end()) {
        status_.unknown.add(line.text);
      } else {
        status_.condition = known->condition;
      }
      break;
    }
    default: status_.unknown.add(line.text);
  }
  return {};
}

void BirdStatusParser::read_clock(const BirdLine& line) {
  std::string_view text = trim(line.text);
  for (const ClockLine& known : kClockLines) {
    if (!consume_prefix(text, known.words)) continue;
    status_.*known.into = text;
    return;
  }
  status_.unknown.add(line.text);
}

void BirdStatusParser::read_restart(const BirdLine& line) {
  if (!status_.restart) status_.restart.emplace();
  std::string_view text = trim(line.text);
  if (line.head && text == "Graceful restart recovery in progress") return;
  if (consume_prefix(text, "Waiting for ")) {
    const auto count = parse_number<std::uint64_t>(take_bird_word(text));
    if (count) {
      status_.restart->waiting_for = count;
      return;
    }
  } else if (consume_prefix(text, "Wait timer is ")) {
    if (const auto timer = read_bird_timer(text)) {
      status_.restart->timer = timer;
      return;
    }
  }
  status_.unknown.add(line.text);
}

Result<BirdStatus> BirdStatusParser::take() {
  if (!ended_ || status_.version.empty())
    return fail(Errc::kProtocol, "show status: no version in it");
  return std::exchange(status_, {});
}

Result<BirdStatus> parse_bird_status(std::string_view reply) {
  return parse_bird_reply<BirdStatusParser>(reply);
}

}  // namespace wardmote::codec
