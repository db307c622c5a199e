// Services that call people: each incident is an alert of its own, from its beginning to its end.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/services/requests.h"
#include "act/notify/services/service.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using judge::Severity;
using judge::incident::Incident;
using judge::incident::Phase;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;

namespace {

/// One that the service knows already needs no request of its own, unless the notice reminds.
bool says_something(const ServiceNotice& given, const NoticeItem& item) {
  return item.kind != NoticeKind::kOngoing || given.notice.repeats || given.notice.reminds;
}

/// A test of a receiver is open and says when it ends, which nobody will tell later.
bool is_over(const NoticeItem& item) {
  return item.incident.resolved.has_value();
}

/// A service that has never heard of the incident must hear of its beginning before its end.
bool begins(const NoticeItem& item) {
  return item.incident.phase != Phase::kResolved || item.kind == NoticeKind::kBrief;
}

std::string title_of(const Incident& incident) {
  return fmt::format("{} {}: {}", escape_control(incident.root, 128), to_string(incident.code),
                     escape_control(incident.summary, 1024));
}

std::string node_of(const NoticeItem& item) {
  const auto node = item.labels.find("node");
  return escape_control(node == item.labels.end() ? item.incident.root : node->second);
}

json::object details_of(const NoticeItem& item) {
  json::object details;
  for (const auto& [name, value] : item.labels) details[name] = escape_control(value);
  details["incident"] = std::to_string(item.incident.id);
  return details;
}

/// Why an incident that nobody saw good has ended.
std::string_view end_of(const NoticeItem& item) {
  return item.incident.unwatched || item.kind == NoticeKind::kUnwatched
             ? "no longer watched; nobody saw it good"
             : "good again";
}

std::string_view pagerduty_severity(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kCritical: return "critical";
  }
  return "error";
}

json::object pagerduty_event(const ServiceNotice& given, const NoticeItem& item,
                             std::string_view action) {
  const Incident& incident = item.incident;
  json::object payload;
  payload["summary"] = cut(title_of(incident), 1024);
  payload["timestamp"] = format_utc(given.clock.wall(incident.since));
  payload["severity"] = pagerduty_severity(incident.severity);
  payload["source"] = node_of(item);
  payload["component"] = escape_control(incident.root);
  payload["class"] = to_string(incident.code);
  payload["custom_details"] = details_of(item);
  json::object event;
  event["routing_key"] = given.options.token.text;
  event["event_action"] = action;
  event["dedup_key"] = incident_key(item);
  event["client"] = "wardmote";
  event["payload"] = std::move(payload);
  return event;
}

std::string_view opsgenie_priority(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "P5";
    case Severity::kWarning: return "P3";
    case Severity::kCritical: return "P1";
  }
  return "P3";
}

ServiceCall opsgenie_call(const ServiceNotice& given, std::string_view path,
                          const json::object& body) {
  ServiceCall made{json_call(given.options.url + std::string(path), body, given.options)};
  made.call.headers.emplace_back("Authorization", "GenieKey " + given.options.token.text);
  return made;
}

json::object opsgenie_alert(const ServiceNotice& given, const NoticeItem& item) {
  const Incident& incident = item.incident;
  json::object alert;
  alert["message"] = cut(title_of(incident), 130);
  alert["alias"] = incident_key(item);
  alert["description"] =
      fmt::format("{}\nsince {}", title_of(incident), format_utc(given.clock.wall(incident.since)));
  if (!given.options.to.empty()) {
    alert["responders"] = json::array{{{"type", "team"}, {"name", given.options.to}}};
  }
  alert["tags"] = json::array{to_string(incident.code), to_string(incident.severity)};
  alert["details"] = details_of(item);
  alert["entity"] = cut(escape_control(incident.root), 512);
  alert["source"] = cut(node_of(item), 100);
  alert["priority"] = opsgenie_priority(incident.severity);
  return alert;
}

}  // namespace

std::vector<ServiceCall> pagerduty_calls(const ServiceNotice& given) {
  std::vector<ServiceCall> calls;
  const std::string url = given.options.url + "/v2/enqueue";
  for (const NoticeItem& item : given.notice.items) {
    if (!says_something(given, item)) continue;
    if (begins(item))
      calls.push_back({json_call(url, pagerduty_event(given, item, "trigger"), given.options)});
    if (is_over(item))
      calls.push_back({json_call(url, pagerduty_event(given, item, "resolve"), given.options)});
  }
  return calls;
}

std::vector<ServiceCall> opsgenie_calls(const ServiceNotice& given) {
  std::vector<ServiceCall> calls;
  for (const NoticeItem& item : given.notice.items) {
    if (!says_something(given, item)) continue;
    if (begins(item))
      calls.push_back(opsgenie_call(given, "/v2/alerts", opsgenie_alert(given, item)));
    if (!is_over(item)) continue;
    const std::string path =
        "/v2/alerts/" + percent_encoded(incident_key(item)) + "/close?identifierType=alias";
    json::object body{{"source", cut(node_of(item), 100)}, {"note", end_of(item)}};
    ServiceCall close = opsgenie_call(given, path, body);
    close.also_good = 404;  // somebody has closed and deleted it
    calls.push_back(std::move(close));
  }
  return calls;
}

}  // namespace wardmote::act::notify
