#include "act/notify/payload.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using judge::Severity;
using judge::incident::Incident;
using judge::notify::Labels;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;

namespace {

constexpr std::size_t kTextCap = 1024;
constexpr std::string_view kOpenMark = "{{";
constexpr std::string_view kCloseMark = "}}";
constexpr std::string_view kLabelPrefix = "labels.";
constexpr std::string_view kFields[] = {"version", "key",     "receiver", "group",
                                        "number",  "repeats", "status",   "severity",
                                        "title",   "labels",  "left_out", "incidents"};

json::object labels_json(const Labels& labels) {
  json::object shown;
  for (const auto& [name, value] : labels) shown[name] = escape_control(value);
  return shown;
}

json::object item_json(const NoticeItem& item, const store::ClockPair& clock) {
  const Incident& incident = item.incident;
  json::object shown;
  shown["id"] = incident.id;
  shown["revision"] = incident.revision;
  shown["kind"] = to_string(item.kind);
  shown["phase"] = to_string(incident.phase);
  shown["code"] = to_string(incident.code);
  shown["severity"] = to_string(incident.severity);
  shown["root"] = escape_control(incident.root);
  shown["summary"] = escape_control(incident.summary, kTextCap);
  shown["labels"] = labels_json(item.labels);
  json::array names;
  for (const std::string& name : incident.names) names.emplace_back(escape_control(name));
  shown["names"] = std::move(names);
  shown["symptoms"] = incident.symptoms;
  shown["flapping"] = incident.flapping;
  shown["storm"] = incident.storm;
  shown["reopened"] = incident.reopened;
  shown["merged_into"] =
      incident.merged_into == 0 ? json::value(nullptr) : json::value(incident.merged_into);
  shown["acknowledged_by"] = incident.acknowledged
                                 ? json::value(escape_control(incident.acknowledged->by))
                                 : json::value(nullptr);
  shown["opened"] = format_utc(clock.wall(incident.opened));
  shown["since"] = format_utc(clock.wall(incident.since));
  shown["resolved"] = incident.resolved ? json::value(format_utc(clock.wall(*incident.resolved)))
                                        : json::value(nullptr);
  return shown;
}

/// The main incident: the gravest open one, else the gravest.
const NoticeItem& foremost(const Notice& notice) {
  return *std::ranges::min_element(notice.items, {}, [](const NoticeItem& item) {
    return std::pair(item.incident.phase, -static_cast<int>(item.incident.severity));
  });
}

std::string_view word(const NoticeItem& item) {
  if (item.incident.phase == judge::incident::Phase::kResolved)
    return item.incident.unwatched || item.kind == NoticeKind::kUnwatched ? "NOT WATCHED"
                                                                          : "RESOLVED";
  switch (item.incident.severity) {
    case Severity::kInfo: return "INFO";
    case Severity::kWarning: return "WARNING";
    case Severity::kCritical: return "CRITICAL";
  }
  return "WARNING";
}

/// The value of a placeholder.
std::string value_of(std::string_view field, const json::object& notice) {
  const json::value* value = nullptr;
  if (consume_prefix(field, kLabelPrefix)) {
    value = notice.at("labels").as_object().if_contains(field);
  } else {
    value = notice.if_contains(field);
  }
  if (value == nullptr) return {};
  std::string text = json::serialize(*value);
  return value->is_string() ? text.substr(1, text.size() - 2) : text;
}

/// Calls `literal` and `field` for the pieces of a template, in order.
template <class Literal, class Field>
void for_each_piece(std::string_view text, Literal literal, Field field) {
  for (;;) {
    const std::size_t open = text.find(kOpenMark);
    const std::size_t close =
        open == std::string_view::npos ? open : text.find(kCloseMark, open + kOpenMark.size());
    literal(text.substr(0, close == std::string_view::npos ? text.size() : open));
    if (close == std::string_view::npos) return;
    const std::size_t begin = open + kOpenMark.size();
    field(trim(text.substr(begin, close - begin)));
    text.remove_prefix(close + kCloseMark.size());
  }
}

}  // namespace

json::object notice_json(const Notice& notice, const store::ClockPair& clock) {
  const NoticeItem& first = foremost(notice);
  json::object shown;
  shown["version"] = 1;
  shown["key"] = notice.key();
  shown["receiver"] = notice.receiver;
  shown["group"] = notice.group;
  shown["number"] = notice.number;
  shown["repeats"] = notice.repeats;
  shown["status"] = any_open(notice) ? "open" : "resolved";
  shown["severity"] = to_string(first.incident.severity);
  shown["title"] = notice_title(notice);
  shown["labels"] = labels_json(notice.labels);
  shown["left_out"] = notice.left_out;
  json::array items;
  for (const NoticeItem& item : notice.items) items.emplace_back(item_json(item, clock));
  shown["incidents"] = std::move(items);
  return shown;
}

std::string notice_title(const Notice& notice) {
  const NoticeItem& first = foremost(notice);
  const std::size_t more = notice.items.size() - 1 + notice.left_out;
  return fmt::format("{}{} {} {}: {}{}", word(first), first.incident.flapping ? " (flapping)" : "",
                     escape_control(first.incident.root, 128), to_string(first.incident.code),
                     escape_control(first.incident.summary, 256),
                     more == 0 ? "" : fmt::format(" (and {} more)", more));
}

std::string notice_text(const Notice& notice, const store::ClockPair& clock) {
  std::string text;
  for (const NoticeItem& item : notice.items) {
    const Incident& incident = item.incident;
    text += fmt::format(
        "#{} {} {} {} {}\n  {}\n  since {}", incident.id, word(item), to_string(item.kind),
        to_string(incident.code), escape_control(incident.root, 128),
        escape_control(incident.summary, kTextCap), format_utc(clock.wall(incident.since)));
    if (incident.resolved) text += ", over at " + format_utc(clock.wall(*incident.resolved));
    text += "\n";
  }
  if (notice.left_out > 0) text += fmt::format("and {} more\n", notice.left_out);
  return text;
}

std::string fill_template(std::string_view text, const json::object& notice) {
  std::string filled;
  for_each_piece(
      text, [&](std::string_view literal) { filled += literal; },
      [&](std::string_view field) { filled += value_of(field, notice); });
  return filled;
}

Result<void> check_template(std::string_view text) {
  Result<void> checked;
  for_each_piece(
      text, [](std::string_view) {},
      [&](std::string_view field) {
        if (!checked || std::ranges::find(kFields, field) != std::end(kFields)) return;
        if (field.starts_with(kLabelPrefix) && field.size() > kLabelPrefix.size()) return;
        checked =
            fail(Errc::kInvalid, "'{}' is not a field of a notice", escape_control(field, 64));
      });
  return checked;
}

}  // namespace wardmote::act::notify
