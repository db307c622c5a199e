#include "observe/systemd/convert.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/dbus.h"
#include "judge/service/systemd.h"
#include "observe/systemd/client.h"

namespace wardmote::observe::systemd {
namespace {

using codec::DbusProperties;
using judge::SystemdFacts;

// The values of waitid(2), which systemd passes on in ExecMainCode.
constexpr std::int64_t kExited = 1;
constexpr std::int64_t kKilled = 2;
constexpr std::int64_t kDumped = 3;

template <class T>
std::optional<T> value(const DbusProperties& properties, std::string_view name) {
  const auto found = properties.find(name);
  if (found == properties.end() || !std::holds_alternative<T>(found->second)) return std::nullopt;
  return std::get<T>(found->second);
}

std::string text(const DbusProperties& properties, std::string_view name) {
  return escape_control(value<std::string>(properties, name).value_or(""));
}

/// Time since a timestamp in microseconds of the wall clock; 0 means never.
std::optional<Duration> since(const DbusProperties& properties, std::string_view name,
                              WallTime now) {
  const auto stamp = value<std::uint64_t>(properties, name).value_or(0);
  if (stamp == 0 || stamp > INT64_MAX / 1000) return std::nullopt;
  const WallTime then{std::chrono::microseconds(static_cast<std::int64_t>(stamp))};
  return std::max<Duration>(now - then, Duration::zero());
}

void read_service(const DbusProperties& service, WallTime now, SystemdFacts& facts) {
  facts.result = text(service, "Result");
  facts.status_text = text(service, "StatusText");
  facts.main_pid = static_cast<std::uint32_t>(value<std::uint64_t>(service, "MainPID").value_or(0));
  facts.restarts = value<std::uint64_t>(service, "NRestarts").value_or(0);
  const auto code = value<std::int64_t>(service, "ExecMainCode").value_or(0);
  const auto status = static_cast<int>(value<std::int64_t>(service, "ExecMainStatus").value_or(0));
  if (code == kExited) facts.exit_code = status;
  if (code == kKilled || code == kDumped) facts.signal = status;
  const auto watchdog = value<std::uint64_t>(service, "WatchdogUSec").value_or(0);
  // Infinity means that there is no watchdog, too.
  if (watchdog == 0 || watchdog > INT64_MAX / 1000) return;
  facts.watchdog = std::chrono::microseconds(static_cast<std::int64_t>(watchdog));
  facts.watchdog_age = since(service, "WatchdogTimestamp", now);
}

}  // namespace

Result<SystemdFacts> to_facts(const Snapshot& snapshot, WallTime now) {
  SystemdFacts facts;
  for (const std::string_view name : {"Id", "LoadState", "ActiveState", "SubState"}) {
    if (!value<std::string>(snapshot.unit, name))
      return fail(Errc::kProtocol, "a unit without a {}", name);
  }
  facts.id = text(snapshot.unit, "Id");
  facts.load_state = text(snapshot.unit, "LoadState");
  facts.active_state = text(snapshot.unit, "ActiveState");
  facts.sub_state = text(snapshot.unit, "SubState");
  facts.in_state = since(snapshot.unit, "StateChangeTimestamp", now);
  if (!snapshot.service.empty()) read_service(snapshot.service, now, facts);
  return facts;
}

}  // namespace wardmote::observe::systemd
