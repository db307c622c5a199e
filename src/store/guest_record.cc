#include "store/guest_record.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::State;
using judge::guest::InsideWatch;
using judge::guest::Verdict;

namespace {

constexpr std::array kStates = {State::kDiscovery, State::kHealthy, State::kError,
                                State::kReported};
/// Those that a guest can be reported as.
constexpr std::array kReported = {Verdict::kAgentStuck, Verdict::kNoAnswer,  Verdict::kIdleHung,
                                  Verdict::kSpinning,   Verdict::kBootStuck, Verdict::kPanic,
                                  Verdict::kDied,       Verdict::kQemuStuck, Verdict::kHostStorage};

/// The one of `all` whose word it is.
template <class Range>
auto parse(const Range& all, std::string_view word) -> std::optional<typename Range::value_type> {
  const auto found = std::ranges::find(all, word, [](auto one) { return to_string(one); });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

/// Whatever lies on the disk, it has a negative of its own.
constexpr std::int64_t kMostDrift = std::numeric_limits<std::int64_t>::max();

std::span<const json::value> list_in(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  const json::array* const list = value == nullptr ? nullptr : value->if_array();
  return list == nullptr ? std::span<const json::value>() : std::span(list->data(), list->size());
}

std::optional<TimePoint> past_in(const json::object& object, std::string_view key,
                                 const ClockPair& clock) {
  const auto at = wall_in(object, key);
  return at ? std::optional(clock.past(*at)) : std::nullopt;
}

void put_inside(json::object& object, const InsideWatch::Record& inside, const ClockPair& clock) {
  if (inside.frozen_since) object["frozen_since_ms"] = epoch_ms(clock.wall(*inside.frozen_since));
  if (inside.drifts_since) {
    object["drifts_since_ms"] = epoch_ms(clock.wall(*inside.drifts_since));
    object["drift_ms"] = to_ms(inside.drift);
  }
  if (inside.full_since) {
    object["full_since_ms"] = epoch_ms(clock.wall(*inside.full_since));
    object["full"] = json::array(inside.full.begin(), inside.full.end());
  }
}

InsideWatch::Record inside_of(const json::object& object, const ClockPair& clock) {
  InsideWatch::Record inside;
  inside.frozen_since = past_in(object, "frozen_since_ms", clock);
  inside.drifts_since = past_in(object, "drifts_since_ms", clock);
  const std::int64_t drift = integer_in(object, "drift_ms").value_or(0);
  const auto size = duration_of_ms(std::abs(std::max(drift, -kMostDrift)));
  if (inside.drifts_since && size) inside.drift = drift < 0 ? -*size : *size;
  inside.full_since = past_in(object, "full_since_ms", clock);
  if (!inside.full_since) return inside;
  for (const json::value& mountpoint : list_in(object, "full")) {
    if (inside.full.size() == InsideWatch::kMostNamed) break;
    if (const json::string* const text = mountpoint.if_string())
      inside.full.emplace_back(std::string_view(*text));
  }
  return inside;
}

}  // namespace

std::string guest_prefix(std::string_view node) {
  return fmt::format("guest/{}/", node);
}

std::string guest_key(std::string_view node, std::string_view uuid) {
  return guest_prefix(node) + std::string(uuid);
}

std::string encode(const GuestRecord& record, const ClockPair& clock) {
  const judge::guest::Machine::Record& machine = record.machine;
  json::object object;
  object["name"] = record.names.name;
  object["uuid"] = record.names.uuid;
  object["instance"] = record.names.instance;
  object["process"] = record.process;
  object["state"] = to_string(machine.state);
  object["failures"] = machine.failures;
  object["ever_answered"] = machine.ever_answered;
  object["booting"] = machine.booting;
  object["sent"] = machine.sent;
  if (machine.reported) {
    object["reported"] = to_string(*machine.reported);
    object["reported_since_ms"] = epoch_ms(clock.wall(machine.reported_since));
  }
  json::array alarms;
  for (const TimePoint at : machine.alarms) alarms.emplace_back(epoch_ms(clock.wall(at)));
  if (!alarms.empty()) object["alarms_ms"] = std::move(alarms);
  put_inside(object, record.inside, clock);
  return json::serialize(object);
}

Result<GuestRecord> decode_guest(std::string_view text, const ClockPair& clock) {
  const Result<json::object> object = parse_record(text);
  if (!object) return std::unexpected(object.error());
  const auto name = text_in(*object, "name");
  const auto uuid = text_in(*object, "uuid");
  const auto state = parse(kStates, text_in(*object, "state").value_or(""));
  if (!name || !uuid || !state) return fail(Errc::kProtocol, "a record that is not of a guest");
  GuestRecord record;
  record.names = {*name, *uuid, text_in(*object, "instance").value_or("")};
  record.process = static_cast<int>(integer_in(*object, "process").value_or(-1));
  record.machine.state = *state;
  record.machine.failures = static_cast<int>(integer_in(*object, "failures").value_or(0));
  record.machine.ever_answered = flag_in(*object, "ever_answered");
  record.machine.booting = flag_in(*object, "booting");
  record.machine.sent = flag_in(*object, "sent");
  record.machine.reported = parse(kReported, text_in(*object, "reported").value_or(""));
  const auto since = wall_in(*object, "reported_since_ms");
  record.machine.reported_since = since ? clock.past(*since) : clock.now;
  for (const json::value& at : list_in(*object, "alarms_ms")) {
    const std::int64_t* const ms = at.if_int64();
    const auto moment = ms == nullptr ? std::nullopt : moment_of_epoch_ms(*ms);
    if (moment) record.machine.alarms.push_back(clock.past(*moment));
  }
  record.inside = inside_of(*object, clock);
  return record;
}

}  // namespace wardmote::store
