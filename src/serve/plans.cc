#include "serve/plans.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/member_id.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "store/journal.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::plan::Pause;
using judge::plan::Plan;
using runtime::HttpResponse;

namespace {

constexpr std::string_view kEverything = "all";
constexpr std::size_t kDefaultActions = 200;

json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(escape_control(text));
}

json::value number_or_null(std::int64_t number) {
  return number == 0 ? json::value(nullptr) : json::value(number);
}

std::string scope_name(const std::string& scope) {
  return scope.empty() ? std::string(kEverything) : scope;
}

json::array pauses_json(const PlanDesk& desk, const Ask& ask) {
  json::array pauses;
  for (const auto& [scope, pause] : desk.planner().pauses()) {
    if (pause.until && *pause.until <= ask.view.now) continue;
    json::object each;
    each["scope"] = scope_name(scope);
    each["by"] = escape_control(pause.by);
    each["until"] = pause.until
                        ? json::value(format_utc(ask.view.wall_now + (*pause.until - ask.view.now)))
                        : json::value(nullptr);
    pauses.emplace_back(std::move(each));
  }
  return pauses;
}

json::array refusals_json(const PlanDesk& desk) {
  json::array refusals;
  for (const judge::plan::Refusal& refusal : desk.planner().refusals()) {
    refusals.push_back(json::object{{"policy", refusal.policy},
                                    {"cluster", refusal.cluster},
                                    {"code", to_string(refusal.code)},
                                    {"subject", escape_control(refusal.subject)},
                                    {"reason", escape_control(refusal.reason)}});
  }
  return refusals;
}

HttpResponse list(const PlanDesk& desk, const Ask& ask) {
  const Query query(ask.request.query);
  if (const auto unknown = query.unknown({"all"})) {
    return error_answer(400, "no field '" + escape_control(*unknown, 64) + "' is known here");
  }
  const bool all = query.value("all") == "true";
  json::array plans;
  for (const auto& [id, plan] : desk.planner().plans()) {
    if (all || plan.open()) plans.push_back(to_json(plan, ask.view.now, ask.view.wall_now));
  }
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["frozen"] = text_or_null(desk.frozen().value_or(""));
  body["pauses"] = pauses_json(desk, ask);
  body["plans"] = std::move(plans);
  body["refusals"] = refusals_json(desk);
  return json_answer(body);
}

HttpResponse show(const PlanDesk& desk, std::optional<std::int64_t> id, const Ask& ask,
                  int status = 200) {
  const auto& plans = desk.planner().plans();
  const auto found = id ? plans.find(*id) : plans.end();
  if (found == plans.end()) return error_answer(404, "there is no such plan");
  return json_answer(to_json(found->second, ask.view.now, ask.view.wall_now), status);
}

HttpResponse one(const PlanDesk& desk, const Ask& ask) {
  return show(desk, parse_number<std::int64_t>(ask.name), ask);
}

/// An order is answered when it is written down.
HttpResponse held(PlanDesk& desk, HttpResponse answer) {
  answer.hold = desk.written();
  return answer;
}

HttpResponse propose(PlanDesk& desk, const Ask& ask) {
  const auto order = parse_order(ask.request);
  if (!order) return order_refused(order.error());
  const auto cluster = order_text(*order, "cluster");
  if (!cluster) return order_refused(cluster.error());
  const auto member = order_text(*order, "member");
  if (!member) return order_refused(member.error());
  const Result<std::int64_t> id = desk.ask_to_rebuild(*cluster, *member, order_by(*order, ask.who));
  return id ? held(desk, show(desk, *id, ask, 201)) : order_refused(id.error());
}

using Verdict = Result<void> (PlanDesk::*)(std::int64_t id, std::string by, std::string comment);

HttpResponse rule(PlanDesk& desk, Verdict verdict, const Ask& ask) {
  const auto order = parse_order(ask.request);
  if (!order) return order_refused(order.error());
  auto comment = order_text(*order, "comment");
  if (!comment) return order_refused(comment.error());
  const auto id = parse_number<std::int64_t>(ask.name);
  const Result<void> done =
      (desk.*verdict)(id.value_or(0), order_by(*order, ask.who), *std::move(comment));
  return done ? held(desk, show(desk, id, ask)) : order_refused(done.error());
}

HttpResponse show_pauses(const PlanDesk& desk, const Ask& ask) {
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["pauses"] = pauses_json(desk, ask);
  return json_answer(body);
}

HttpResponse pause(PlanDesk& desk, const Ask& ask) {
  const auto order = parse_order(ask.request);
  if (!order) return order_refused(order.error());
  auto scope = order_text(*order, "scope");
  if (!scope) return order_refused(scope.error());
  const auto time = order_text(*order, "for");
  if (!time) return order_refused(time.error());
  std::optional<Duration> length;
  if (!time->empty()) {
    length = parse_duration(*time);
    if (!length) return error_answer(400, "for: write how long, for example 2h");
  }
  if (*scope == kEverything) scope->clear();
  const Result<void> done = desk.pause(*std::move(scope), length, order_by(*order, ask.who));
  return done ? held(desk, show_pauses(desk, ask)) : order_refused(done.error());
}

HttpResponse resume(PlanDesk& desk, const Ask& ask) {
  const auto order = parse_order(ask.request);
  if (!order) return order_refused(order.error());
  const std::string scope(ask.name == kEverything ? std::string_view() : ask.name);
  const Result<void> done = desk.resume(scope, order_by(*order, ask.who));
  return done ? held(desk, show_pauses(desk, ask)) : order_refused(done.error());
}

/// A number of the query; nothing when it is not there, 0 when it is none.
std::optional<std::int64_t> number_in(const Query& query, std::string_view key) {
  if (!query.has(key)) return std::nullopt;
  return parse_number<std::int64_t>(query.value(key)).value_or(0);
}

HttpResponse actions(const PlanDesk& desk, const Ask& ask) {
  const Query query(ask.request.query);
  if (const auto unknown = query.unknown({"plan", "incident", "most"})) {
    return error_answer(400, "no field '" + escape_control(*unknown, 64) + "' is known here");
  }
  const auto plan = number_in(query, "plan");
  const auto incident = number_in(query, "incident");
  const auto most = number_in(query, "most");
  for (const auto& [key, number] :
       {std::pair{"plan", plan}, std::pair{"incident", incident}, std::pair{"most", most}}) {
    if (number && *number < 1) return error_answer(400, std::string(key) + ": write a number");
  }
  std::vector<const store::JournalEntry*> found;
  const auto limit = most ? static_cast<std::size_t>(*most) : kDefaultActions;
  const auto& recent = desk.journal().recent();
  for (auto entry = recent.rbegin(); entry != recent.rend() && found.size() < limit; ++entry) {
    if (plan && entry->plan != *plan) continue;
    if (incident && entry->incident != *incident) continue;
    found.push_back(&*entry);
  }
  json::array list;
  for (auto entry = found.rbegin(); entry != found.rend(); ++entry)
    list.push_back(to_json(**entry));
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["stored"] = desk.journal().stored();
  body["actions"] = std::move(list);
  return json_answer(body);
}

}  // namespace

json::object to_json(const Plan& plan, TimePoint now, WallTime wall_now) {
  const auto wall = [&](TimePoint at) { return format_utc(wall_now + (at - now)); };
  json::object shown;
  shown["id"] = plan.id;
  shown["state"] = to_string(plan.state);
  shown["work"] = to_string(plan.work);
  shown["summary"] = escape_control(describe(plan));
  shown["cluster"] = plan.cluster;
  shown["member"] = text_or_null(plan.member);
  shown["server"] = text_or_null(to_string(plan.server));
  shown["address"] = text_or_null(plan.address);
  shown["code"] = text_or_null(plan.code ? to_string(*plan.code) : std::string_view());
  shown["why"] = escape_control(plan.why);
  shown["reason"] = text_or_null(plan.reason);
  shown["policy"] = plan.policy;
  shown["incident"] = number_or_null(plan.incident);
  shown["proposer"] = escape_control(plan.proposer);
  shown["approver"] = text_or_null(plan.approver);
  shown["token"] = number_or_null(plan.token);
  json::array steps;
  for (const judge::plan::Step& step : plan.steps) {
    steps.push_back(json::object{{"kind", to_string(step.kind)},
                                 {"state", to_string(step.state)},
                                 {"detail", escape_control(step.detail)}});
  }
  shown["steps"] = std::move(steps);
  shown["created"] = wall(plan.created);
  shown["begun"] = plan.approver.empty() ? json::value(nullptr) : json::value(wall(plan.begun));
  shown["changed"] = wall(plan.changed);
  shown["age_ms"] = to_ms(now - plan.created);
  return shown;
}

json::object to_json(const store::JournalEntry& entry) {
  json::object shown;
  shown["sequence"] = entry.sequence;
  shown["at"] = format_utc(entry.at);
  shown["kind"] = entry.kind;
  shown["plan"] = number_or_null(entry.plan);
  shown["step"] = text_or_null(entry.step);
  shown["cluster"] = text_or_null(entry.cluster);
  shown["subject"] = text_or_null(entry.subject);
  shown["actor"] = escape_control(entry.actor);
  shown["incident"] = number_or_null(entry.incident);
  shown["token"] = entry.token;
  shown["detail"] = escape_control(entry.detail);
  return shown;
}

std::vector<Route> plan_routes(PlanDesk& desk) {
  return {
      {"GET", "/api/v1/plans", Role::kViewer, [&desk](const Ask& ask) { return list(desk, ask); }},
      {"POST", "/api/v1/plans", Role::kOperator,
       [&desk](const Ask& ask) { return propose(desk, ask); }},
      {"GET", "/api/v1/plans/{id}", Role::kViewer,
       [&desk](const Ask& ask) { return one(desk, ask); }},
      {"POST", "/api/v1/plans/{id}/approve", Role::kAdmin,
       [&desk](const Ask& ask) { return rule(desk, &PlanDesk::approve, ask); }},
      {"POST", "/api/v1/plans/{id}/reject", Role::kOperator,
       [&desk](const Ask& ask) { return rule(desk, &PlanDesk::reject, ask); }},
      {"POST", "/api/v1/pauses", Role::kOperator,
       [&desk](const Ask& ask) { return pause(desk, ask); }},
      {"DELETE", "/api/v1/pauses/{scope}", Role::kOperator,
       [&desk](const Ask& ask) { return resume(desk, ask); }},
      {"GET", "/api/v1/actions", Role::kViewer,
       [&desk](const Ask& ask) { return actions(desk, ask); }},
  };
}

}  // namespace wardmote::serve
