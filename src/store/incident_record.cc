#include "store/incident_record.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::incident::Incident;
using judge::incident::Phase;

namespace {

constexpr double kThousand = 1000;

std::optional<judge::Severity> severity_in(const json::object& object) {
  const auto name = text_in(object, "severity");
  for (const auto severity :
       {judge::Severity::kInfo, judge::Severity::kWarning, judge::Severity::kCritical}) {
    if (name && *name == to_string(severity)) return severity;
  }
  return std::nullopt;
}

std::size_t size_in(const json::object& record, std::string_view key) {
  return static_cast<std::size_t>(std::max(integer_in(record, key).value_or(0), std::int64_t{0}));
}

std::unexpected<Error> no_incident() {
  return fail(Errc::kProtocol, "a record that is not an incident");
}

}  // namespace

std::string incident_key(std::int64_t id) {
  return fmt::format("{}{}", kIncidentPrefix, id);
}

std::string encode(const Incident& incident, const ClockPair& clock) {
  json::object record;
  record["id"] = incident.id;
  record["root"] = incident.root;
  record["open"] = incident.phase == Phase::kOpen;
  record["code"] = to_string(incident.code);
  record["severity"] = to_string(incident.severity);
  record["summary"] = incident.summary;
  record["names"] = json::array(incident.names.begin(), incident.names.end());
  if (!incident.things.empty())
    record["things"] = json::array(incident.things.begin(), incident.things.end());
  record["flapping"] = incident.flapping;
  if (incident.penalty.value > 0) {
    record["penalty_thousandths"] = std::llround(incident.penalty.value * kThousand);
    record["penalty_at"] = epoch_ms(clock.wall(incident.penalty.at));
  }
  record["storm"] = incident.storm;
  if (incident.symptoms > 0) record["symptoms"] = incident.symptoms;
  if (incident.told_size > 0) record["told_size"] = incident.told_size;
  if (incident.worst_size > 0) record["worst_size"] = incident.worst_size;
  record["reopened"] = incident.reopened;
  if (!incident.left.empty())
    record["left"] = json::array(incident.left.begin(), incident.left.end());
  if (incident.unwatched) record["unwatched"] = true;
  record["merged_into"] = incident.merged_into;
  record["opened"] = epoch_ms(clock.wall(incident.opened));
  if (incident.since != incident.opened) record["since"] = epoch_ms(clock.wall(incident.since));
  record["changed"] = epoch_ms(clock.wall(incident.changed));
  if (incident.resolved) record["resolved"] = epoch_ms(clock.wall(*incident.resolved));
  if (incident.acknowledged) {
    record["acknowledged_by"] = incident.acknowledged->by;
    record["acknowledged_comment"] = incident.acknowledged->comment;
    record["acknowledged"] = epoch_ms(clock.wall(incident.acknowledged->at));
  }
  record["revision"] = incident.revision;
  return json::serialize(record);
}

Result<Incident> decode_incident(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return no_incident();
  const auto id = integer_in(*record, "id");
  auto root = text_in(*record, "root");
  const auto severity = severity_in(*record);
  const auto code_name = text_in(*record, "code");
  const auto code = code_name ? judge::parse_code(*code_name) : std::nullopt;
  const auto opened = wall_in(*record, "opened");
  const auto changed = wall_in(*record, "changed");
  const auto resolved = wall_in(*record, "resolved");
  const bool open = flag_in(*record, "open");
  const bool merged = integer_in(*record, "merged_into").value_or(0) != 0;
  const bool whole = id && *id > 0 && root && severity && code && opened && changed;
  if (!whole || (open && resolved) || !(open || resolved || merged)) return no_incident();
  Incident incident;
  incident.id = *id;
  incident.root = *std::move(root);
  incident.phase = open ? Phase::kOpen : resolved ? Phase::kResolved : Phase::kMerged;
  incident.code = *code;
  incident.severity = *severity;
  incident.summary = text_in(*record, "summary").value_or("");
  incident.names = texts_in(*record, "names");
  incident.things = texts_in(*record, "things");
  incident.flapping = flag_in(*record, "flapping");
  if (const auto at = wall_in(*record, "penalty_at")) {
    const auto thousandths = integer_in(*record, "penalty_thousandths").value_or(0);
    incident.penalty = {static_cast<double>(thousandths) / kThousand, clock.past(*at)};
  }
  incident.storm = flag_in(*record, "storm");
  incident.symptoms = size_in(*record, "symptoms");
  incident.told_size = size_in(*record, "told_size");
  incident.worst_size = size_in(*record, "worst_size");
  incident.reopened = static_cast<int>(integer_in(*record, "reopened").value_or(0));
  incident.left = texts_in(*record, "left");
  incident.unwatched = flag_in(*record, "unwatched");
  incident.merged_into = integer_in(*record, "merged_into").value_or(0);
  incident.opened = clock.past(*opened);
  incident.since = clock.past(wall_in(*record, "since").value_or(*opened));
  incident.changed = clock.past(*changed);
  if (resolved) incident.resolved = clock.past(*resolved);
  if (const auto at = wall_in(*record, "acknowledged")) {
    incident.acknowledged = {text_in(*record, "acknowledged_by").value_or(""),
                             text_in(*record, "acknowledged_comment").value_or(""),
                             clock.past(*at)};
  }
  incident.revision = static_cast<std::uint64_t>(integer_in(*record, "revision").value_or(0));
  return incident;
}

}  // namespace wardmote::store
