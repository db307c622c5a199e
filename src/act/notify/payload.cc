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
#include "base/text.h"
#include "base/time.h"
#include "judge/condition/condition.h"
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
  shown["confirmed"] = item.confirmed;
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

std::string_view doubt(const NoticeItem& item) noexcept {
  return item.confirmed ? "" : judge::kUnconfirmed;
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

}  // namespace

const NoticeItem& foremost(const Notice& notice) {
  return *std::ranges::min_element(notice.items, {}, [](const NoticeItem& item) {
    return std::pair(item.incident.phase, -static_cast<int>(item.incident.severity));
  });
}

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
  return fmt::format("{}{} {} {}: {}{}{}", word(first),
                     first.incident.flapping ? " (flapping)" : "",
                     escape_control(first.incident.root, 128), to_string(first.incident.code),
                     escape_control(first.incident.summary, 256), doubt(first),
                     more == 0 ? "" : fmt::format(" (and {} more)", more));
}

std::string item_text(const NoticeItem& item, const store::ClockPair& clock) {
  const Incident& incident = item.incident;
  std::string text =
      fmt::format("#{} {} {} {} {}\n  {}{}\n  since {}", incident.id, word(item),
                  to_string(item.kind), to_string(incident.code),
                  escape_control(incident.root, 128), escape_control(incident.summary, kTextCap),
                  doubt(item), format_utc(clock.wall(incident.since)));
  if (incident.resolved) text += ", over at " + format_utc(clock.wall(*incident.resolved));
  return text;
}

std::string notice_text(const Notice& notice, const store::ClockPair& clock) {
  std::string text;
  for (const NoticeItem& item : notice.items) text += item_text(item, clock) + "\n";
  if (notice.left_out > 0) text += fmt::format("and {} more\n", notice.left_out);
  return text;
}

}  // namespace wardmote::act::notify
