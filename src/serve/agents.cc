#include "serve/agents.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "base/time.h"
#include "serve/answer.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

json::object row_json(const AgentRow& row) {
  json::object one;
  one["name"] = row.name;
  one["present"] = row.present;
  one["for_ms"] = to_ms(row.since);
  one["here"] = row.here;
  one["leads"] = row.leads;
  one["doubted"] = row.doubted;
  json::object& labels = one["labels"].emplace_object();
  for (const auto& [name, value] : row.labels) labels[name] = value;
  one["release"] = row.release;
  one["boot"] = row.boot;
  if (row.started) one["started"] = format_utc(*row.started);
  json::array& symptoms = one["symptoms"].emplace_array();
  for (const AgentSymptom& symptom : row.symptoms) {
    symptoms.push_back(json::object{{"component", symptom.component},
                                    {"code", symptom.code},
                                    {"severity", symptom.severity},
                                    {"summary", symptom.summary},
                                    {"age_ms", to_ms(symptom.age)}});
  }
  return one;
}

json::object election_json(const ElectionState& state) {
  json::object answer;
  answer["leads"] = state.leads;
  json::array& queue = answer["candidates"].emplace_array();
  for (const ElectionState::Candidate& one : state.candidates) {
    queue.push_back(json::object{{"name", one.name},
                                 {"key", one.key},
                                 {"token", one.token},
                                 {"here", one.here},
                                 {"leased", one.leased}});
  }
  if (state.age) answer["age_ms"] = to_ms(*state.age);
  if (state.complaint) answer["complaint"] = *state.complaint;
  return answer;
}

}  // namespace

std::vector<Route> agents_routes(const AgentsView* view) {
  std::vector<Route> routes;
  routes.push_back({.method = "GET",
                    .path = "/api/v1/agents",
                    .least = Role::kViewer,
                    .answer = [view](const Ask&) {
                      json::object answer;
                      answer["shared"] = view != nullptr;
                      json::array& agents = answer["agents"].emplace_array();
                      if (view == nullptr) return json_answer(answer);
                      for (const AgentRow& row : view->agents()) agents.push_back(row_json(row));
                      if (const auto age = view->age()) answer["age_ms"] = to_ms(*age);
                      return json_answer(answer);
                    }});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/election",
                    .least = Role::kViewer,
                    .answer = [view](const Ask&) {
                      ElectionState state;
                      state.leads = view == nullptr;  // alone it always does
                      if (view != nullptr) state = view->election();
                      json::object answer = election_json(state);
                      answer["shared"] = view != nullptr;
                      return json_answer(answer);
                    }});
  return routes;
}

}  // namespace wardmote::serve
