#include "observe/bird/convert.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "codec/bird.h"
#include "judge/bgp/calico_name.h"
#include "judge/bgp/facts.h"

namespace wardmote::observe::bird {

using judge::bgp::BgpFacts;
using judge::bgp::Session;
using judge::bgp::SessionState;
using std::chrono::milliseconds;

namespace {

/// Numbers of a fixed length with fixed separators: `2026-11-20`, `07:56:39`.
std::optional<std::array<int, 3>> three_numbers(std::string_view text, char separator) noexcept {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const auto read = parse_number<int>(take_until(text, separator));
    if (!read || *read < 0) return std::nullopt;
    number = *read;
  }
  if (!text.empty()) return std::nullopt;
  return numbers;
}

std::optional<std::chrono::sys_days> read_date(std::string_view text) noexcept {
  const auto numbers = three_numbers(text, '-');
  if (!numbers) return std::nullopt;
  const auto [year, month, day] = *numbers;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

/// Time since midnight.
std::optional<Duration> read_time(std::string_view text) noexcept {
  const std::string_view whole = take_until(text, '.');
  const auto numbers = three_numbers(whole, ':');
  if (!numbers) return std::nullopt;
  const auto [hours, minutes, seconds] = *numbers;
  if (hours > 23 || minutes > 59 || seconds > 60) return std::nullopt;
  int fraction = 0;
  if (!text.empty()) {
    const auto read = parse_number<int>(text);
    if (!read || *read < 0 || text.size() != 3) return std::nullopt;
    fraction = *read;
  }
  return std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(seconds) +
         milliseconds(fraction);
}

struct Moment {
  std::optional<std::chrono::sys_days> date;
  std::optional<Duration> time;
};

Moment read_moment(std::string_view text) noexcept {
  Moment moment;
  const std::string_view first = take_until(text, ' ');
  moment.date = read_date(first);
  moment.time = read_time(moment.date ? text : first);
  return moment;
}

Duration to_duration(std::uint64_t ms) noexcept {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  return milliseconds(static_cast<std::int64_t>(std::min(ms, kMost)));
}

/// The first word of the info column, and what follows it.
SessionState split_info(std::string_view info, std::string& error) {
  const std::string_view word = info.substr(0, info.find(' '));
  error = trim(info.substr(word.size()));
  return judge::bgp::parse_session_state(word);
}

void take_channels(Session& session, const codec::BirdProtocol& row) {
  judge::bgp::Routes sum;
  bool counted = false;
  for (const codec::BirdChannel& channel : row.channels) {
    if (!channel.name.empty()) session.families.push_back(channel.name);
    if (channel.routes) {
      sum.imported += channel.routes->imported;
      sum.exported += channel.routes->exported;
      counted = true;
    }
    session.restarting = session.restarting || !channel.restart.empty();
  }
  if (counted) session.routes = sum;
}

Session to_session(codec::BirdProtocol row, std::string_view now) {
  Session session;
  std::string error;
  session.state = split_info(row.info, error);
  // A disabled session has an empty info column.
  session.admin_down = row.state == "down" && row.info.empty();
  if (session.admin_down) session.state = SessionState::kDown;
  session.passive = session.state == SessionState::kPassive;
  session.restarting =
      row.neighbor_restarts || (row.state == "wait" && session.state == SessionState::kEstablished);
  session.last_error = row.last_error.empty() ? std::move(error) : std::move(row.last_error);
  session.remote_as = row.neighbor_as;
  session.local_as = row.local_as;
  session.local_address = std::move(row.source_address);
  session.in_state = age_of(row.since, now);
  if (row.hold) session.hold_left = to_duration(row.hold->left_ms);
  take_channels(session, row);
  const auto calico = judge::bgp::read_calico_name(row.name);
  if (calico) session.port = calico->port;
  if (row.neighbor_port) session.port = *row.neighbor_port;
  if (!row.neighbor_address.empty()) {
    session.address = row.neighbor_address.substr(0, row.neighbor_address.find('%'));
  } else if (calico) {
    session.address = calico->address;
  }
  session.name = std::move(row.name);
  return session;
}

}  // namespace

std::optional<Duration> age_of(std::string_view since, std::string_view now) noexcept {
  constexpr Duration kDay = std::chrono::days(1);
  const Moment then = read_moment(since);
  const Moment clock = read_moment(now);
  if (!clock.date || !clock.time || (!then.date && !then.time)) return std::nullopt;
  Duration age = *clock.time - then.time.value_or(Duration::zero());
  if (then.date) {
    age += *clock.date - *then.date;
  } else if (age < Duration::zero()) {
    age += kDay;
  }
  if (age < Duration::zero()) return std::nullopt;
  return age;
}

BgpFacts to_facts(codec::BirdStatus status, codec::BirdProtocols protocols) {
  BgpFacts facts;
  facts.version = "BIRD " + status.version;
  facts.router_id = std::move(status.router_id);
  facts.shutting_down = status.condition == codec::BirdCondition::kShuttingDown;
  facts.reconfiguring = status.condition == codec::BirdCondition::kReconfiguring;
  facts.up_for = age_of(status.last_reboot, status.server_time);
  if (status.restart) {
    facts.restart.emplace();
    facts.restart->waiting_for = status.restart->waiting_for;
    if (status.restart->timer) {
      facts.restart->left = to_duration(status.restart->timer->left_ms);
      if (status.restart->timer->total_ms)
        facts.restart->total = to_duration(*status.restart->timer->total_ms);
    }
  }
  facts.lines_not_understood = status.unknown.count + protocols.unknown.count;
  for (codec::BirdProtocol& row : protocols.protocols) {
    if (row.proto == "BGP")
      facts.sessions.push_back(to_session(std::move(row), status.server_time));
  }
  return facts;
}

}  // namespace wardmote::observe::bird
