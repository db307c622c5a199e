#include "serve/incidents.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::incident::Book;
using judge::incident::Incident;
using judge::incident::Phase;
using runtime::HttpResponse;

namespace {

constexpr std::size_t kMostStanding = 20;

const Incident* find(const Book& book, std::string_view number) {
  const auto id = parse_number<std::int64_t>(number);
  const auto found = id ? book.incidents().find(*id) : book.incidents().end();
  return found == book.incidents().end() ? nullptr : &found->second;
}

HttpResponse list(const IncidentDesk& desk, const Ask& ask) {
  const Query query(ask.request.query);
  if (const auto unknown = query.unknown({"all"})) {
    return error_answer(400, "no field '" + escape_control(*unknown, 64) + "' is known here");
  }
  const bool all = query.value("all") == "true";
  std::vector<const Incident*> shown;
  for (const auto& [id, incident] : desk.book().incidents()) {
    if (all || incident.phase == Phase::kOpen) shown.push_back(&incident);
  }
  std::ranges::sort(shown, [](const Incident* a, const Incident* b) {
    return std::tuple(a->phase, b->severity, a->id) < std::tuple(b->phase, a->severity, b->id);
  });
  json::array incidents;
  for (const Incident* const incident : shown) {
    incidents.emplace_back(to_json(*incident, desk.book(), ask.view.now, ask.view.wall_now));
  }
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["acts_frozen"] = desk.book().acts_frozen();
  body["incidents"] = std::move(incidents);
  return json_answer(body);
}

HttpResponse one(const IncidentDesk& desk, const Ask& ask) {
  const Incident* const incident = find(desk.book(), ask.name);
  if (incident == nullptr) return error_answer(404, "there is no such incident");
  return json_answer(to_json(*incident, desk.book(), ask.view.now, ask.view.wall_now));
}

HttpResponse acknowledge(IncidentDesk& desk, const Ask& ask) {
  const auto order = parse_order(ask.request);
  if (!order) return order_refused(order.error());
  auto comment = order_text(*order, "comment");
  if (!comment) return order_refused(comment.error());
  const auto id = parse_number<std::int64_t>(ask.name);
  const Result<void> done =
      desk.acknowledge(id.value_or(0), order_by(*order, ask.who), *std::move(comment));
  if (!done) return order_refused(done.error());
  HttpResponse answer = one(desk, ask);
  answer.hold = desk.written();
  return answer;
}

}  // namespace

json::object to_json(const Incident& incident, const Book& book, TimePoint now, WallTime wall_now) {
  const auto wall = [&](TimePoint at) { return format_utc(wall_now + (at - now)); };
  json::object shown;
  shown["id"] = incident.id;
  shown["root"] = escape_control(incident.root);
  shown["phase"] = to_string(incident.phase);
  shown["code"] = to_string(incident.code);
  shown["severity"] = to_string(incident.severity);
  shown["summary"] = escape_control(incident.summary);
  json::array names;
  for (const std::string& name : incident.names) names.emplace_back(escape_control(name));
  shown["names"] = std::move(names);
  shown["symptoms"] = incident.symptoms;
  json::array standing;
  for (const auto& symptom : book.symptoms_of(incident.id, kMostStanding)) {
    json::object each;
    each["component"] = escape_control(symptom.component);
    each["code"] = to_string(symptom.code);
    each["severity"] = to_string(symptom.severity);
    each["summary"] = escape_control(symptom.summary);
    each["since"] = wall(symptom.since);
    standing.emplace_back(std::move(each));
  }
  shown["standing"] = std::move(standing);
  shown["flapping"] = incident.flapping;
  shown["storm"] = incident.storm;
  shown["reopened"] = incident.reopened;
  shown["merged_into"] =
      incident.merged_into == 0 ? json::value(nullptr) : json::value(incident.merged_into);
  shown["acknowledged"] = nullptr;
  if (incident.acknowledged) {
    json::object acknowledged;
    acknowledged["by"] = escape_control(incident.acknowledged->by);
    acknowledged["comment"] = escape_control(incident.acknowledged->comment);
    acknowledged["at"] = wall(incident.acknowledged->at);
    shown["acknowledged"] = std::move(acknowledged);
  }
  shown["opened"] = wall(incident.opened);
  shown["changed"] = wall(incident.changed);
  shown["resolved"] =
      incident.resolved ? json::value(wall(*incident.resolved)) : json::value(nullptr);
  shown["age_ms"] = to_ms(now - incident.opened);
  return shown;
}

std::vector<Route> incident_routes(IncidentDesk& desk) {
  return {
      {"GET", "/api/v1/incidents", Role::kViewer,
       [&desk](const Ask& ask) { return list(desk, ask); }},
      {"GET", "/api/v1/incidents/{id}", Role::kViewer,
       [&desk](const Ask& ask) { return one(desk, ask); }},
      {"POST", "/api/v1/incidents/{id}/ack", Role::kOperator,
       [&desk](const Ask& ask) { return acknowledge(desk, ask); }},
  };
}

}  // namespace wardmote::serve
