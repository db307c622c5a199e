#include "store/failover_record.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"
#include "judge/failover/member.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"
#include "store/shared_end.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::failover::ContentHash;
using judge::failover::Copy;
using judge::failover::Member;
using judge::failover::PairRecord;
using judge::failover::Position;
using judge::failover::Trail;

namespace {

constexpr std::size_t kLongestTrail = 1024;
constexpr std::size_t kTextCap = 512;
constexpr int kHex = 16;
constexpr std::size_t kDigits = 16;
constexpr auto kCopyStates =
    std::to_array({Copy::kDown, Copy::kHung, Copy::kUnknown, Copy::kActive, Copy::kFollowing,
                   Copy::kSearching, Copy::kStray, Copy::kIsolated});

std::string text_of(const json::object& record, std::string_view key) {
  return escape_control(text_in(record, key).value_or(""), kTextCap);
}

std::uint64_t number_of(const json::object& record, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(integer_in(record, key).value_or(0), 0));
}

Copy copy_of(const json::object& record, std::string_view key) {
  const std::string word = text_in(record, key).value_or("");
  const auto* const found = std::ranges::find_if(
      kCopyStates, [&](Copy copy) { return judge::failover::to_string(copy) == word; });
  return found == kCopyStates.end() ? Copy::kUnknown : *found;
}

std::optional<int> priority_of(const json::object& record) {
  const auto number = integer_in(record, "priority");
  if (!number) return std::nullopt;
  return static_cast<int>(std::clamp<std::int64_t>(*number, -1000, 1000));
}

json::array trail_json(const Trail& trail) {
  json::array texts;
  for (const ContentHash& one : trail)
    texts.emplace_back(fmt::format("{:016x}{:016x}", one.high, one.low));
  return texts;
}

/// What is no hash makes the whole trail unknown: a gap in it would say what is not true.
Trail trail_of(const json::object& record, std::string_view key) {
  Trail trail;
  const json::value* const list = record.if_contains(key);
  if (list == nullptr || !list->is_array()) return trail;
  if (list->get_array().size() > kLongestTrail) return trail;
  for (const json::value& one : list->get_array()) {
    const json::string* const text = one.if_string();
    if (text == nullptr || text->size() != 2 * kDigits) return {};
    const std::string_view digits(text->data(), text->size());
    const auto high = parse_number<std::uint64_t>(digits.substr(0, kDigits), kHex);
    const auto low = parse_number<std::uint64_t>(digits.substr(kDigits), kHex);
    if (!high || !low) return {};
    trail.push_back({*high, *low});
  }
  return trail;
}

json::object position_json(const Position& position) {
  return {{"epoch", position.epoch},     {"author", position.author},
          {"empty", position.empty},     {"sync", to_string(position.sync)},
          {"counter", position.counter}, {"size", position.size}};
}

Position position_of(const json::object& record) {
  Position position;
  const json::value* const value = record.if_contains("position");
  const json::object* const object = value == nullptr ? nullptr : value->if_object();
  // A copy that says nothing of its rows must not count as one that has some.
  if (object == nullptr) return Position{.empty = true};
  position.epoch = number_of(*object, "epoch");
  position.author = text_of(*object, "author");
  position.empty = flag_in(*object, "empty");
  position.sync = judge::failover::parse_sync_state(text_in(*object, "sync").value_or(""));
  position.counter = integer_in(*object, "counter").value_or(0);
  position.size = number_of(*object, "size");
  return position;
}

}  // namespace

FailoverKeys::FailoverKeys(std::string_view pair) : prefix(fmt::format("failover/{}/", pair)) {}

std::string FailoverKeys::member(std::string_view node) const {
  return members() + std::string(node);
}

std::string FailoverKeys::settings(std::string_view node) const {
  return prefix + "settings/" + std::string(node);
}

std::string FailoverKeys::history(std::uint64_t epoch) const {
  return fmt::format("{}history/{:020}", prefix, epoch);
}

std::string encode(const Member& member) {
  json::object record;
  record["nb"] = to_string(member.nb);
  record["sb"] = to_string(member.sb);
  record["position"] = position_json(member.position);
  record["trail"] = trail_json(member.trail);
  record["sb_trail"] = trail_json(member.sb_trail);
  record["observes"] = member.observes;
  record["nofailover"] = member.nofailover;
  record["priority"] = member.priority;
  record["edited_by"] = member.edited_by;
  record["unfit"] = member.unfit;
  record["distrusted"] = member.distrusted;
  record["nb_source"] = member.nb_source;
  record["sb_source"] = member.sb_source;
  return json::serialize(record);
}

Result<Member> decode_member(std::string_view name, std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  Member member;
  member.name = name;
  member.nb = copy_of(*record, "nb");
  member.sb = copy_of(*record, "sb");
  member.position = position_of(*record);
  member.trail = trail_of(*record, "trail");
  member.sb_trail = trail_of(*record, "sb_trail");
  member.observes = flag_in(*record, "observes");
  member.nofailover = flag_in(*record, "nofailover");
  member.priority = priority_of(*record).value_or(0);
  member.edited_by = text_of(*record, "edited_by");
  member.unfit = text_of(*record, "unfit");
  member.distrusted = flag_in(*record, "distrusted");
  member.nb_source = text_of(*record, "nb_source");
  member.sb_source = text_of(*record, "sb_source");
  return member;
}

std::string encode(const PairRecord& pair) {
  json::object record;
  record["epoch"] = pair.epoch;
  record["claimed"] = pair.claimed;
  record["active"] = pair.active;
  record["token"] = pair.token;
  record["position"] = position_json(pair.published);
  record["trail"] = trail_json(pair.trail);
  record["sb_trail"] = trail_json(pair.sb_trail);
  record["released"] = pair.released;
  record["heir"] = pair.heir;
  return json::serialize(record);
}

Result<PairRecord> decode_pair(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  if (!integer_in(*record, "epoch") || !integer_in(*record, "claimed"))
    return fail(Errc::kProtocol, "a record without an epoch");
  PairRecord pair;
  pair.epoch = number_of(*record, "epoch");
  pair.claimed = number_of(*record, "claimed");
  pair.active = text_of(*record, "active");
  pair.token = integer_in(*record, "token").value_or(0);
  pair.published = position_of(*record);
  pair.trail = trail_of(*record, "trail");
  pair.sb_trail = trail_of(*record, "sb_trail");
  pair.released = flag_in(*record, "released");
  pair.heir = text_of(*record, "heir");
  return pair;
}

std::string encode(const FailoverOrder& order) {
  return json::serialize(json::object{{"to", order.to},
                                      {"forced", order.forced},
                                      {"by", order.by},
                                      {"until", order.until_ms},
                                      {"answer", order.answer}});
}

Result<FailoverOrder> decode_failover_order(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  return FailoverOrder{.to = text_of(*record, "to"),
                       .forced = flag_in(*record, "forced"),
                       .by = text_of(*record, "by"),
                       .until_ms = integer_in(*record, "until").value_or(0),
                       .answer = text_of(*record, "answer")};
}

std::string encode(const FailoverSchedule& schedule) {
  return json::serialize(
      json::object{{"to", schedule.to}, {"by", schedule.by}, {"at", epoch_ms(schedule.at)}});
}

Result<FailoverSchedule> decode_failover_schedule(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const auto at = wall_in(*record, "at");
  if (!at) return fail(Errc::kProtocol, "a switchover without a time");
  return FailoverSchedule{.to = text_of(*record, "to"), .by = text_of(*record, "by"), .at = *at};
}

FailoverSettings edited(FailoverSettings settings, const FailoverEdit& edit) {
  if (edit.priority) settings.priority = *edit.priority;
  if (edit.nofailover) settings.nofailover = *edit.nofailover;
  settings.by = edit.by;
  return settings;
}

std::string encode(const FailoverSettings& settings) {
  json::object record{{"by", settings.by}};
  if (settings.priority) record["priority"] = *settings.priority;
  if (settings.nofailover) record["nofailover"] = *settings.nofailover;
  return json::serialize(record);
}

Result<FailoverSettings> decode_failover_settings(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  FailoverSettings settings{.priority = priority_of(*record), .by = text_of(*record, "by")};
  const json::value* const flag = record->if_contains("nofailover");
  // What is no flag must not let a node be promoted that somebody wanted to keep from it.
  if (flag != nullptr) settings.nofailover = !flag->is_bool() || flag->get_bool();
  return settings;
}

std::string encode(const FailoverPause& pause, const ClockPair& clock) {
  json::object record{{"by", pause.by}};
  if (pause.until) put_end(record, *pause.until, clock);
  return json::serialize(record);
}

Result<FailoverPause> decode_failover_pause(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  FailoverPause pause{.by = text_of(*record, "by")};
  // An earlier version has written 0 for one without an end.
  if (integer_in(*record, "until") != 0) pause.until = end_in(*record, clock);
  return pause;
}

std::string encode(const FailoverEvent& event) {
  return json::serialize(json::object{{"epoch", event.epoch},
                                      {"node", event.node},
                                      {"reason", event.reason},
                                      {"at", epoch_ms(event.at)}});
}

Result<FailoverEvent> decode_failover_event(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  FailoverEvent event;
  event.epoch = number_of(*record, "epoch");
  event.node = text_of(*record, "node");
  event.reason = text_of(*record, "reason");
  event.at = wall_in(*record, "at").value_or(WallTime());
  return event;
}

}  // namespace wardmote::store
