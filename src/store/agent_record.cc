#include "store/agent_record.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/raft/member_id.h"
#include "judge/raft/sighting.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::incident::Symptom;
using judge::raft::MemberId;
using judge::raft::Sighting;

namespace {

/// Of one agent. In a storm the first are enough: the store is no place for thousands.
constexpr std::size_t kMostSymptoms = 500;
constexpr std::size_t kTextCap = 1024;
constexpr std::int64_t kMostChecks = 1'000'000;
constexpr std::size_t kMostKinds = 100;
constexpr std::size_t kMostWatched = 2000;
constexpr std::string_view kRegistration = "registration";
constexpr std::string_view kPresence = "presence";
constexpr std::string_view kSymptoms = "symptoms";
/// More than an agent looks at.
constexpr std::size_t kMostServers = 1000;

std::string key_of(std::string_view node, std::string_view what) {
  return fmt::format("{}{}/{}", kAgentPrefix, node, what);
}

std::optional<judge::Severity> severity_of(std::string_view word) {
  for (const auto severity :
       {judge::Severity::kInfo, judge::Severity::kWarning, judge::Severity::kCritical}) {
    if (to_string(severity) == word) return severity;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(const json::object& record, std::string_view field) {
  std::vector<std::string> names = texts_in(record, field);
  for (std::string& name : names) name = escape_control(name, kTextCap);
  return names;
}

std::optional<Symptom> decode_symptom(const json::value& value, const ClockPair& clock) {
  const json::object* const record = value.if_object();
  if (record == nullptr) return std::nullopt;
  const auto code = judge::parse_code(text_in(*record, "code").value_or(""));
  const auto severity = severity_of(text_in(*record, "severity").value_or(""));
  auto owner = text_in(*record, "owner");
  if (!code || !severity || !owner || owner->empty()) return std::nullopt;
  Symptom symptom;
  symptom.owner = escape_control(*owner, kTextCap);
  symptom.component = escape_control(text_in(*record, "component").value_or(*owner), kTextCap);
  symptom.code = *code;
  symptom.severity = *severity;
  symptom.optional = flag_in(*record, "optional");
  symptom.recalled = flag_in(*record, "recalled");
  symptom.summary = escape_control(text_in(*record, "summary").value_or(""), kTextCap);
  symptom.kind = escape_control(text_in(*record, "kind").value_or(""), kTextCap);
  // Without a time that makes sense it is a symptom still.
  symptom.since = clock.past(wall_in(*record, "since").value_or(clock.wall_now));
  symptom.names = names_in(*record, "names");
  symptom.above = names_in(*record, "above");
  return symptom;
}

std::optional<std::set<std::string>> decode_watched(const json::object& record) {
  const json::value* const list = record.if_contains("owners");
  if (list == nullptr || !list->is_array() || list->get_array().size() > kMostWatched)
    return std::nullopt;
  std::set<std::string> owners;
  for (const json::value& owner : list->get_array()) {
    if (!owner.is_string()) return std::nullopt;
    owners.insert(escape_control(owner.get_string(), kTextCap));
  }
  return owners;
}

}  // namespace

std::string registration_key(std::string_view node) {
  return key_of(node, kRegistration);
}

std::string presence_key(std::string_view node) {
  return key_of(node, kPresence);
}

std::string symptoms_key(std::string_view node) {
  return key_of(node, kSymptoms);
}

std::string note_key(std::string_view node, std::string_view note) {
  return key_of(node, note);
}

std::optional<AgentKey> parse_agent_key(std::string_view key) {
  if (!consume_prefix(key, kAgentPrefix)) return std::nullopt;
  const std::size_t slash = key.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  const std::string_view what = key.substr(slash + 1);
  const std::string_view node = key.substr(0, slash);
  if (what == kRegistration) return AgentKey{node, AgentRecordKind::kRegistration};
  if (what == kPresence) return AgentKey{node, AgentRecordKind::kPresence};
  if (what == kSymptoms) return AgentKey{node, AgentRecordKind::kSymptoms};
  return std::nullopt;
}

std::string encode(const AgentRegistration& registration) {
  json::object record;
  record["node"] = registration.node;
  json::object& labels = record["labels"].emplace_object();
  for (const auto& [name, value] : registration.labels) labels[name] = value;
  record["release"] = registration.release;
  record["boot"] = registration.boot;
  record["since"] = epoch_ms(registration.since);
  return json::serialize(record);
}

Result<AgentRegistration> decode_registration(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  AgentRegistration registration;
  registration.node = escape_control(text_in(*record, "node").value_or(""), kTextCap);
  registration.release = escape_control(text_in(*record, "release").value_or(""), kTextCap);
  registration.boot = escape_control(text_in(*record, "boot").value_or(""), kTextCap);
  registration.since = wall_in(*record, "since").value_or(WallTime());
  if (const json::value* const labels = record->if_contains("labels");
      labels && labels->is_object()) {
    for (const auto& [name, value] : labels->get_object()) {
      if (const json::string* const label = value.if_string())
        registration.labels[escape_control(name, kTextCap)] = escape_control(*label, kTextCap);
    }
  }
  return registration;
}

std::string encode(const AgentWord& word, const ClockPair& clock) {
  json::array list;
  for (const Symptom& symptom : word.symptoms) {
    if (list.size() == kMostSymptoms) break;
    json::object record;
    record["owner"] = symptom.owner;
    record["component"] = symptom.component;
    record["code"] = to_string(symptom.code);
    record["severity"] = to_string(symptom.severity);
    record["optional"] = symptom.optional;
    record["names"] = json::array(symptom.names.begin(), symptom.names.end());
    record["summary"] = symptom.summary;
    record["since"] = epoch_ms(clock.wall(symptom.since));
    if (!symptom.kind.empty()) record["kind"] = symptom.kind;
    if (!symptom.above.empty())
      record["above"] = json::array(symptom.above.begin(), symptom.above.end());
    if (symptom.recalled) record["recalled"] = true;
    list.push_back(std::move(record));
  }
  json::object record{{"symptoms", std::move(list)}};
  json::object& checks = record["checks"].emplace_object();
  for (const auto& [kind, count] : word.checks) checks[kind] = count;
  if (word.watches && word.watches->size() <= kMostWatched)
    record["owners"] = json::array(word.watches->begin(), word.watches->end());
  if (word.history) record["history"] = *word.history;
  return json::serialize(record);
}

Result<AgentWord> decode_word(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const json::value* const list = record->if_contains("symptoms");
  if (list == nullptr || !list->is_array())
    return fail(Errc::kProtocol, "a record that has no symptoms");
  AgentWord word;
  for (const json::value& one : list->get_array()) {
    if (word.symptoms.size() == kMostSymptoms) break;
    if (auto symptom = decode_symptom(one, clock)) word.symptoms.push_back(*std::move(symptom));
  }
  if (const json::value* const checks = record->if_contains("checks");
      checks && checks->is_object()) {
    for (const auto& [kind, value] : checks->get_object()) {
      const auto count = integer_in(checks->get_object(), kind);
      if (count && *count >= 0 && *count <= kMostChecks && word.checks.size() < kMostKinds)
        word.checks[escape_control(kind, kTextCap)] = static_cast<std::size_t>(*count);
    }
  }
  word.watches = decode_watched(*record);
  if (const auto history = integer_in(*record, "history"); history && *history >= 0)
    word.history = static_cast<std::uint64_t>(*history);
  return word;
}

std::string encode_servers(const std::vector<Sighting>& servers) {
  json::array list;
  for (const Sighting& sighting : servers) {
    if (list.size() == kMostServers) break;
    json::object said{{"server", to_string(sighting.server)},
                      {"cluster", to_string(sighting.cluster)},
                      {"still", sighting.still},
                      {"database", sighting.database}};
    if (sighting.beside) said["beside"] = true;
    if (sighting.refused) said["refused"] = true;
    if (!sighting.address.empty()) said["address"] = sighting.address;
    if (sighting.late) said["late_ms"] = to_ms(*sighting.late);
    list.push_back(std::move(said));
  }
  return json::serialize(json::object{{"servers", std::move(list)}});
}

Result<std::vector<Sighting>> decode_servers(std::string_view text, const std::string& by,
                                             TimePoint at) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const json::value* const list = record->if_contains("servers");
  if (list == nullptr || !list->is_array())
    return fail(Errc::kProtocol, "a record that has no servers");
  std::vector<Sighting> servers;
  for (const json::value& one : list->get_array()) {
    const json::object* const fields = one.if_object();
    if (fields == nullptr || servers.size() == kMostServers) continue;
    const auto id_in = [&](std::string_view key) {
      return judge::raft::parse_member_id(text_in(*fields, key).value_or("")).value_or(MemberId());
    };
    Sighting seen{id_in("server"), id_in("cluster"), by, at};
    seen.database = text_in(*fields, "database").value_or("");
    seen.address = text_in(*fields, "address").value_or("");
    const json::value* const still = fields->if_contains("still");
    // An agent of an earlier release tells of those only that still answer.
    seen.still = still == nullptr || !still->is_bool() || still->get_bool();
    seen.refused = flag_in(*fields, "refused");
    if (const auto late = integer_in(*fields, "late_ms"))
      seen.late = std::chrono::milliseconds(*late);
    const bool nameless = !seen.server.known() && !seen.still;
    seen.beside = flag_in(*fields, "beside");
    const bool told = seen.beside ? seen.server.known() : seen.server.full() || nameless;
    if (told) servers.push_back(std::move(seen));
  }
  return servers;
}

}  // namespace wardmote::store
