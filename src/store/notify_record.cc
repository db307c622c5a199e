#include "store/notify_record.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
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
#include "base/time.h"
#include "judge/finding.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "store/clock_pair.h"
#include "store/incident_record.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::notify::CalledAs;
using judge::notify::Group;
using judge::notify::Labels;
using judge::notify::Matcher;
using judge::notify::Member;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::notify::Silence;

namespace {

constexpr NoticeKind kNoticeKinds[] = {NoticeKind::kOpened,    NoticeKind::kChanged,
                                       NoticeKind::kOngoing,   NoticeKind::kResolved,
                                       NoticeKind::kUnwatched, NoticeKind::kBrief};

/// The longest pause between two attempts.
constexpr std::uint64_t kMostGivenUp = 100;
/// A notice is given up long before this; a greater value is a damaged record.
constexpr std::int64_t kMost = to_ms(std::chrono::days(365));

json::object encode_labels(const Labels& labels) {
  json::object record;
  for (const auto& [name, value] : labels) record[name] = value;
  return record;
}

Labels decode_labels(const json::object& parent, std::string_view key = "labels") {
  Labels labels;
  const json::value* const record = parent.if_contains(key);
  if (record == nullptr || !record->is_object()) return labels;
  for (const auto& [name, value] : record->get_object()) {
    if (value.is_string()) labels.emplace(name, value.get_string());
  }
  return labels;
}

/// The objects of a list; other elements are left out.
std::vector<const json::object*> objects_in(const json::object& parent, std::string_view key) {
  std::vector<const json::object*> objects;
  const json::value* const list = parent.if_contains(key);
  if (list == nullptr || !list->is_array()) return objects;
  for (const json::value& each : list->get_array()) {
    if (each.is_object()) objects.push_back(&each.get_object());
  }
  return objects;
}

std::uint64_t count_in(const json::object& record, std::string_view key) {
  return static_cast<std::uint64_t>(integer_in(record, key).value_or(0));
}

json::object encode_name(const CalledAs& called) {
  json::object record;
  record["code"] = to_string(called.code);
  record["names"] = json::array(called.names.begin(), called.names.end());
  record["summary"] = called.summary;
  record["root"] = called.root;
  record["severity"] = to_string(called.severity);
  return record;
}

std::optional<CalledAs> decode_name(const json::object& member) {
  const json::value* const record = member.if_contains("called");
  if (record == nullptr || !record->is_object()) return std::nullopt;
  const json::object& fields = record->get_object();
  const auto code = judge::parse_code(text_in(fields, "code").value_or(""));
  if (!code) return std::nullopt;
  CalledAs called{*code, texts_in(fields, "names"), text_in(fields, "summary").value_or(""),
                  text_in(fields, "root").value_or("")};
  // An earlier version did not write it down.
  const auto severity = text_in(fields, "severity");
  for (const auto known : {judge::Severity::kWarning, judge::Severity::kCritical}) {
    if (severity && *severity == to_string(known)) called.severity = known;
  }
  return called;
}

json::object encode_item(const NoticeItem& item, const ClockPair& clock) {
  json::object record;
  record["kind"] = to_string(item.kind);
  record["incident"] = encode(item.incident, clock);
  record["labels"] = encode_labels(item.labels);
  record["known_as"] = encode_labels(item.known_as);
  if (!item.confirmed) record["confirmed"] = false;
  return record;
}

Result<NoticeItem> decode_item(const json::object& record, const ClockPair& clock) {
  NoticeItem item;
  const std::string name = text_in(record, "kind").value_or("");
  for (const NoticeKind kind : kNoticeKinds) {
    if (to_string(kind) == name) item.kind = kind;
  }
  auto incident = decode_incident(text_in(record, "incident").value_or(""), clock);
  if (!incident) return std::unexpected(incident.error());
  item.incident = *std::move(incident);
  item.labels = decode_labels(record);
  item.known_as = decode_labels(record, "known_as");
  const json::value* const confirmed = record.if_contains("confirmed");
  item.confirmed = confirmed == nullptr || !confirmed->is_bool() || confirmed->get_bool();
  // From an earlier version, which sent the alert with the labels of that time.
  if (item.known_as.empty()) item.known_as = item.labels;
  return item;
}

json::object encode_pending(const Group::Pending& pending, const ClockPair& clock) {
  json::object record;
  record["number"] = pending.notice.number;
  record["repeats"] = pending.notice.repeats;
  record["left_out"] = pending.notice.left_out;
  json::array items;
  for (const NoticeItem& item : pending.notice.items) items.emplace_back(encode_item(item, clock));
  record["items"] = std::move(items);
  record["attempts"] = pending.attempts;
  record["tried_ms"] = to_ms(clock.now - pending.since);
  record["next_try"] = epoch_ms(clock.wall(pending.next_try));
  record["last_refusal"] = pending.last_refusal;
  return record;
}

Result<Group::Pending> decode_pending(const json::object& record, const Group& group,
                                      const ClockPair& clock, WallTime written) {
  Group::Pending pending;
  pending.notice.group = group.id;
  pending.notice.receiver = group.receiver;
  pending.notice.number = count_in(record, "number");
  pending.notice.repeats = flag_in(record, "repeats");
  pending.notice.left_out = count_in(record, "left_out");
  for (const json::object* const each : objects_in(record, "items")) {
    auto item = decode_item(*each, clock);
    if (!item) return std::unexpected(item.error());
    pending.notice.items.push_back(*std::move(item));
  }
  if (pending.notice.items.empty()) return fail(Errc::kProtocol, "a notice without an incident");
  pending.notice.labels =
      group.overflow ? group.labels : judge::notify::common_labels(pending.notice.items);
  pending.attempts = static_cast<int>(count_in(record, "attempts"));
  // Only the time in which the agent tried counts towards giving up: not a time in which it did not
  // run. So no clock has to be trusted.
  const std::int64_t tried = integer_in(record, "tried_ms").value_or(0);
  pending.since = clock.now - std::chrono::milliseconds(std::clamp(tried, std::int64_t{0}, kMost));
  pending.next_try = clock.due(wall_in(record, "next_try").value_or(clock.wall_now), written);
  pending.last_refusal = text_in(record, "last_refusal").value_or("");
  return pending;
}

}  // namespace

std::string group_key(std::string_view id) {
  return fmt::format("{}{}", kGroupPrefix, id);
}

std::string encode(const Group& group, const ClockPair& clock) {
  json::object record;
  record["id"] = group.id;
  record["receiver"] = group.receiver;
  record["labels"] = encode_labels(group.labels);
  record["group_by"] = json::array(group.group_by.begin(), group.group_by.end());
  record["overflow"] = group.overflow;
  record["given_up"] = group.given_up;
  record["notices"] = group.notices;
  record["written"] = epoch_ms(clock.wall_now);
  if (group.last_sent) record["last_sent"] = epoch_ms(clock.wall(*group.last_sent));
  if (group.due) record["due"] = epoch_ms(clock.wall(*group.due));
  if (group.dormant_until) record["dormant_until"] = epoch_ms(clock.wall(*group.dormant_until));
  json::array members;
  for (const auto& [id, member] : group.members) {
    json::object each;
    each["incident"] = encode(member.incident, clock);
    each["labels"] = encode_labels(member.labels);
    each["news"] = member.news;
    each["told"] = member.told;
    each["begun"] = member.begun;
    each["known_as"] = encode_labels(member.known_as);
    if (member.called) each["called"] = encode_name(*member.called);
    members.emplace_back(std::move(each));
  }
  record["members"] = std::move(members);
  if (group.pending) record["pending"] = encode_pending(*group.pending, clock);
  return json::serialize(record);
}

Result<Group> decode_group(std::string_view text, const ClockPair& clock) {
  const auto record = parse_record(text);
  if (!record) return fail(Errc::kProtocol, "a record that is not a group");
  Group group;
  group.id = text_in(*record, "id").value_or("");
  group.receiver = text_in(*record, "receiver").value_or("");
  if (group.id.empty() || group.receiver.empty()) {
    return fail(Errc::kProtocol, "a record that is not a group");
  }
  group.labels = decode_labels(*record);
  group.group_by = texts_in(*record, "group_by");
  group.overflow = flag_in(*record, "overflow");
  group.given_up = static_cast<int>(std::min(count_in(*record, "given_up"), kMostGivenUp));
  group.notices = count_in(*record, "notices");
  if (const auto at = wall_in(*record, "last_sent")) group.last_sent = clock.past(*at);
  const WallTime written = wall_in(*record, "written").value_or(clock.wall_now);
  if (const auto at = wall_in(*record, "due")) group.due = clock.due(*at, written);
  if (const auto at = wall_in(*record, "dormant_until"))
    group.dormant_until = clock.due(*at, written);
  for (const json::object* const each : objects_in(*record, "members")) {
    auto incident = decode_incident(text_in(*each, "incident").value_or(""), clock);
    if (!incident) return std::unexpected(incident.error());
    Member member;
    member.incident = *std::move(incident);
    member.labels = decode_labels(*each);
    member.news = count_in(*each, "news");
    member.told = count_in(*each, "told");
    member.begun = flag_in(*each, "begun");
    member.known_as = decode_labels(*each, "known_as");
    member.called = decode_name(*each);
    // As of a notice of an earlier version.
    if (member.begun && member.known_as.empty()) member.known_as = member.labels;
    const std::int64_t id = member.incident.id;
    group.members[id] = std::move(member);
  }
  const json::value* const pending = record->if_contains("pending");
  if (pending != nullptr && pending->is_object()) {
    auto decoded = decode_pending(pending->get_object(), group, clock, written);
    if (!decoded) return std::unexpected(decoded.error());
    for (const NoticeItem& item : decoded->notice.items) {
      const auto member = group.members.find(item.incident.id);
      if (member != group.members.end() && member->second.known_as.empty()) {
        member->second.known_as = item.known_as;
      }
    }
    group.pending = *std::move(decoded);
  }
  return group;
}

std::string silence_key(std::int64_t id) {
  return fmt::format("{}{}", kSilencePrefix, id);
}

std::string encode(const Silence& silence) {
  json::object record;
  record["id"] = silence.id;
  json::array match;
  for (const Matcher& matcher : silence.match) match.emplace_back(to_string(matcher));
  record["match"] = std::move(match);
  record["from"] = epoch_ms(silence.from);
  record["until"] = epoch_ms(silence.until);
  record["by"] = silence.by;
  record["comment"] = silence.comment;
  return json::serialize(record);
}

Result<Silence> decode_silence(std::string_view text) {
  const auto record = parse_record(text);
  const auto id = record ? integer_in(*record, "id") : std::nullopt;
  const auto from = record ? wall_in(*record, "from") : std::nullopt;
  const auto until = record ? wall_in(*record, "until") : std::nullopt;
  if (!id || !from || !until) return fail(Errc::kProtocol, "a record that is not a silence");
  Silence silence;
  silence.id = *id;
  silence.from = *from;
  silence.until = *until;
  silence.by = text_in(*record, "by").value_or("");
  silence.comment = text_in(*record, "comment").value_or("");
  for (const std::string& each : texts_in(*record, "match")) {
    auto matcher = judge::notify::parse_matcher(each);
    if (!matcher) return std::unexpected(matcher.error());
    silence.match.push_back(*std::move(matcher));
  }
  // A silence without matchers would mute everything.
  if (silence.match.empty()) return fail(Errc::kProtocol, "a silence without a matcher");
  return silence;
}

}  // namespace wardmote::store
