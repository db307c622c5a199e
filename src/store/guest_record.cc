#include "store/guest_record.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "judge/check_machine.h"
#include "judge/guest/machine.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::State;
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
  return record;
}

}  // namespace wardmote::store
