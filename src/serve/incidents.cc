#include "serve/incidents.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/verdict.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/renderer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

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

/// The list as it was when the answer was begun, but each incident as it is when its turn comes.
std::unique_ptr<Rendering> render_list(const IncidentControl& control, bool all,
                                       const AgentView& view) {
  const TimePoint now = view.now;
  const WallTime wall_now = view.wall_now;
  std::vector<const Incident*> shown;
  for (const auto& [id, incident] : control.book().incidents()) {
    if (all || incident.phase == Phase::kOpen) shown.push_back(&incident);
  }
  std::ranges::sort(shown, [](const Incident* a, const Incident* b) {
    return std::tuple(a->phase, b->severity, a->id) < std::tuple(b->phase, a->severity, b->id);
  });
  const auto ids = std::make_shared<std::vector<std::int64_t>>();
  for (const Incident* const incident : shown) ids->push_back(incident->id);
  const auto item = [&control, ids, now, wall_now](std::size_t i) {
    const Book& book = control.book();
    const auto found = book.incidents().find((*ids)[i]);
    if (found == book.incidents().end()) return json::array();
    return json::array{to_json(found->second, control, now, wall_now)};
  };
  json::object head;
  head["at"] = format_utc(wall_now);
  head["verdict"] = to_string(overall_verdict(view));
  head["acts_frozen"] = control.book().acts_frozen();
  head["stale"] = text_or_null(control.cut_off().value_or(""));
  std::vector<LongObject::List> lists;
  lists.push_back({"incidents", ids->size(), item});
  return std::make_unique<LongObject>(std::move(head), std::move(lists));
}

HttpResponse list(const IncidentControl& control, Renderer* renderer, const Ask& ask) {
  const Query query(ask.request.query);
  const Result<bool> all = query.flag("all");
  if (!all) return error_answer(400, all.error().context);
  return rendered_answer(renderer, "application/json",
                         fmt::format("/api/v1/incidents?all={}", *all),
                         [&] { return render_list(control, *all, ask.view); });
}

HttpResponse one(const IncidentControl& control, const Ask& ask) {
  const Incident* const incident = find(control.book(), ask.name);
  if (incident == nullptr) return error_answer(404, "there is no such incident");
  return json_answer(to_json(*incident, control, ask.view.now, ask.view.wall_now));
}

HttpResponse acknowledge(IncidentControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {"comment"});
  if (!order) return order_refused(order.error());
  auto comment = order_text(*order, "comment");
  if (!comment) return order_refused(comment.error());
  const auto id = parse_number<std::int64_t>(ask.name);
  const Result<void> done =
      control.acknowledge(id.value_or(0), order_by(*order, ask.who), *std::move(comment));
  if (!done) return order_refused(done.error());
  HttpResponse answer = one(control, ask);
  answer.hold = control.written();
  return answer;
}

}  // namespace

json::object to_json(const Incident& incident, const IncidentControl& control, TimePoint now,
                     WallTime wall_now) {
  const auto wall = [&](TimePoint at) { return format_utc(wall_now + (at - now)); };
  json::object shown;
  shown["id"] = incident.id;
  shown["root"] = escape_control(incident.root);
  shown["phase"] = to_string(incident.phase);
  shown["code"] = to_string(incident.code);
  shown["severity"] = to_string(incident.severity);
  shown["summary"] = escape_control(incident.summary);
  shown["confirmed"] = control.confirmed(incident);
  json::array names;
  for (const std::string& name : incident.names) names.emplace_back(escape_control(name));
  shown["names"] = std::move(names);
  shown["symptoms"] = incident.symptoms;
  json::array standing;
  for (const auto& symptom : control.standing(incident, kMostStanding)) {
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
  shown["since"] = wall(incident.since);
  shown["changed"] = wall(incident.changed);
  shown["resolved"] =
      incident.resolved ? json::value(wall(*incident.resolved)) : json::value(nullptr);
  shown["age_ms"] = to_ms(now - incident.since);
  return shown;
}

std::vector<Route> incident_routes(IncidentControl& control, Renderer* renderer) {
  return {
      {.method = "GET",
       .path = "/api/v1/incidents",
       .least = Role::kViewer,
       .answer = [&control, renderer](const Ask& ask) { return list(control, renderer, ask); },
       .fields = {"all"}},
      {"GET", "/api/v1/incidents/{id}", Role::kViewer,
       [&control](const Ask& ask) { return one(control, ask); }},
      {"POST", "/api/v1/incidents/{id}/ack", Role::kOperator,
       [&control](const Ask& ask) { return acknowledge(control, ask); }},
  };
}

}  // namespace wardmote::serve
