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
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/written_hold.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::plan::Pause;
using judge::plan::Plan;
using runtime::HttpResponse;

namespace {

constexpr std::string_view kEverything = "all";
constexpr std::size_t kDefaultActions = 200;
constexpr Duration kLongestPause = std::chrono::days(365);

json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(escape_control(text));
}

json::value number_or_null(std::int64_t number) {
  return number == 0 ? json::value(nullptr) : json::value(number);
}

std::string scope_name(const std::string& scope) {
  return scope.empty() ? std::string(kEverything) : scope;
}

json::array pauses_json(const PlanControl& control, const Ask& ask) {
  json::array pauses;
  for (const auto& [scope, pause] : control.planner().pauses()) {
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

json::array refusals_json(const PlanControl& control) {
  json::array refusals;
  for (const judge::plan::Refusal& refusal : control.planner().refusals()) {
    refusals.push_back(json::object{{"policy", refusal.policy},
                                    {"cluster", refusal.target.name},
                                    {"code", to_string(refusal.code)},
                                    {"subject", escape_control(refusal.subject)},
                                    {"reason", escape_control(refusal.reason)}});
  }
  return refusals;
}

json::array policies_json(const PlanControl& control) {
  json::array policies;
  for (const judge::plan::Policy& policy : control.planner().policies()) {
    policies.push_back(
        json::object{{"name", policy.name},
                     {"mode", policy.act ? "act" : "observe"},
                     {"acts", policy.acts()},
                     {"reason", text_or_null(policy.why_it_observes().value_or(""))}});
  }
  return policies;
}

HttpResponse list(const PlanControl& control, const Ask& ask) {
  const Query query(ask.request.query);
  const Result<bool> all = query.flag("all");
  if (!all) return error_answer(400, all.error().context);
  json::array plans;
  for (const auto& [id, plan] : control.planner().plans()) {
    if (*all || plan.open()) plans.push_back(to_json(plan, ask.view.now, ask.view.wall_now));
  }
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["frozen"] = text_or_null(control.frozen().value_or(""));
  body["pauses"] = pauses_json(control, ask);
  body["policies"] = policies_json(control);
  body["plans"] = std::move(plans);
  body["refusals"] = refusals_json(control);
  return json_answer(body);
}

HttpResponse show(const PlanControl& control, std::optional<std::int64_t> id, const Ask& ask,
                  int status = 200) {
  const auto& plans = control.planner().plans();
  const auto found = id ? plans.find(*id) : plans.end();
  if (found == plans.end()) return error_answer(404, "there is no such plan");
  return json_answer(to_json(found->second, ask.view.now, ask.view.wall_now), status);
}

HttpResponse one(const PlanControl& control, const Ask& ask) {
  return show(control, parse_number<std::int64_t>(ask.name), ask);
}

/// An order is answered when it is stored.
HttpResponse held(PlanControl& control, HttpResponse answer) {
  answer.hold = hold_until(control.written());
  return answer;
}

HttpResponse propose(PlanControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {"cluster", "member"});
  if (!order) return order_refused(order.error());
  const auto cluster = order_text(*order, "cluster");
  if (!cluster) return order_refused(cluster.error());
  const auto member = order_text(*order, "member");
  if (!member) return order_refused(member.error());
  const Result<std::int64_t> id = control.propose(*cluster, *member, order_by(*order, ask.who));
  return id ? held(control, show(control, *id, ask, 201)) : order_refused(id.error());
}

using Verdict = Result<void> (PlanControl::*)(std::int64_t id, std::string by, std::string comment);

HttpResponse rule(PlanControl& control, Verdict verdict, const Ask& ask) {
  const auto order = parse_order(ask.request, {"comment"});
  if (!order) return order_refused(order.error());
  auto comment = order_text(*order, "comment");
  if (!comment) return order_refused(comment.error());
  const auto id = parse_number<std::int64_t>(ask.name);
  const Result<void> done =
      (control.*verdict)(id.value_or(0), order_by(*order, ask.who), *std::move(comment));
  return done ? held(control, show(control, id, ask)) : order_refused(done.error());
}

HttpResponse show_pauses(const PlanControl& control, const Ask& ask) {
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["pauses"] = pauses_json(control, ask);
  return json_answer(body);
}

HttpResponse pause(PlanControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {"scope", "for"});
  if (!order) return order_refused(order.error());
  auto scope = order_text(*order, "scope");
  if (!scope) return order_refused(scope.error());
  const auto time = order_text(*order, "for");
  if (!time) return order_refused(time.error());
  if (scope->empty()) return error_answer(400, "scope: name a cluster, or write all");
  std::optional<Duration> length;
  if (order->contains("for")) {
    length = parse_duration(*time);
    if (!length || *length <= Duration::zero() || *length > kLongestPause) {
      return error_answer(400,
                          "for: write how long, for example 2h, 8760h at most; without it, "
                          "until it is ended");
    }
  }
  if (*scope == kEverything) scope->clear();
  const Result<void> done = control.pause(*std::move(scope), length, order_by(*order, ask.who));
  return done ? held(control, show_pauses(control, ask)) : order_refused(done.error());
}

HttpResponse resume(PlanControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {});
  if (!order) return order_refused(order.error());
  const std::string scope(ask.name == kEverything ? std::string_view() : ask.name);
  const Result<void> done = control.resume(scope, order_by(*order, ask.who));
  return done ? held(control, show_pauses(control, ask)) : order_refused(done.error());
}

/// A number of the query; nothing when it is absent, 0 when it is malformed.
std::optional<std::int64_t> number_in(const Query& query, std::string_view key) {
  if (!query.has(key)) return std::nullopt;
  return parse_number<std::int64_t>(query.value(key)).value_or(0);
}

HttpResponse actions(const PlanControl& control, const Ask& ask) {
  const Query query(ask.request.query);
  const auto plan = number_in(query, "plan");
  const auto incident = number_in(query, "incident");
  const auto limit = number_in(query, "limit");
  for (const auto& [key, number] :
       {std::pair{"plan", plan}, std::pair{"incident", incident}, std::pair{"limit", limit}}) {
    if (number && *number < 1) return error_answer(400, std::string(key) + ": write a number");
  }
  std::vector<const judge::JournalEntry*> found;
  const auto most = limit ? static_cast<std::size_t>(*limit) : kDefaultActions;
  const auto& recent = control.actions();
  for (auto entry = recent.rbegin(); entry != recent.rend() && found.size() < most; ++entry) {
    if (plan && entry->plan != *plan) continue;
    if (incident && entry->incident != *incident) continue;
    found.push_back(&*entry);
  }
  json::array list;
  for (auto entry = found.rbegin(); entry != found.rend(); ++entry)
    list.push_back(to_json(**entry));
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["stored"] = control.stored();
  body["actions"] = std::move(list);
  return json_answer(body);
}

}  // namespace

json::object to_json(const Plan& plan, TimePoint now, WallTime wall_now) {
  const auto wall = [&](TimePoint at) { return format_utc(wall_now + (at - now)); };
  json::object shown;
  shown["id"] = plan.id;
  shown["state"] = to_string(plan.state);
  shown["work"] = plan.remedy;
  shown["summary"] = escape_control(plan.summary);
  shown["cluster"] = plan.target.name;
  // Arguments of some remedies; the others have none of them.
  for (const char* const arg : {"member", "server", "address"})
    shown[arg] = text_or_null(plan.arg(arg));
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
    steps.push_back(json::object{{"kind", step.name},
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

json::object to_json(const judge::JournalEntry& entry) {
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

std::vector<Route> plan_routes(PlanControl& control) {
  return {
      {.method = "GET",
       .path = "/api/v1/plans",
       .least = Role::kViewer,
       .answer = [&control](const Ask& ask) { return list(control, ask); },
       .fields = {"all"}},
      {"POST", "/api/v1/plans", Role::kOperator,
       [&control](const Ask& ask) { return propose(control, ask); }},
      {"GET", "/api/v1/plans/{id}", Role::kViewer,
       [&control](const Ask& ask) { return one(control, ask); }},
      {"POST", "/api/v1/plans/{id}/approve", Role::kAdmin,
       [&control](const Ask& ask) { return rule(control, &PlanControl::approve, ask); }},
      {"POST", "/api/v1/plans/{id}/reject", Role::kOperator,
       [&control](const Ask& ask) { return rule(control, &PlanControl::reject, ask); }},
      {"POST", "/api/v1/pauses", Role::kOperator,
       [&control](const Ask& ask) { return pause(control, ask); }},
      {"DELETE", "/api/v1/pauses/{scope}", Role::kOperator,
       [&control](const Ask& ask) { return resume(control, ask); }},
      {.method = "GET",
       .path = "/api/v1/actions",
       .least = Role::kViewer,
       .answer = [&control](const Ask& ask) { return actions(control, ask); },
       .fields = {"plan", "incident", "limit"}},
  };
}

}  // namespace wardmote::serve
