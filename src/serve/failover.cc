#include "serve/failover.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/written_hold.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::failover::Copy;
using judge::failover::Member;
using judge::failover::PairReport;
using runtime::HttpResponse;

namespace {

json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(escape_control(text));
}

json::object member_json(const Member& member, const PairReport& report) {
  json::object node{{"name", escape_control(member.name)}};
  node["nb"] = judge::failover::to_string(member.nb);
  node["sb"] = judge::failover::to_string(member.sb);
  node["epoch"] = member.position.epoch;
  const auto lag = judge::failover::lag_of(member, report.record);
  node["lag"] = lag ? json::value(*lag) : json::value(nullptr);
  node["empty"] = member.position.empty;
  node["mode"] = member.observes ? "observe" : "act";
  node["nofailover"] = member.nofailover;
  node["priority"] = member.priority;
  node["unfit"] = text_or_null(member.unfit);
  const auto candidacy = judge::failover::could_take_over(member, report);
  node["take_over"] = {{"verdict", judge::failover::to_string(candidacy.verdict)},
                       {"why", escape_control(candidacy.reason)}};
  return node;
}

std::optional<PairReport> find(const FailoverView* view, std::string_view name) {
  if (view == nullptr) return std::nullopt;
  for (PairReport& report : view->pairs()) {
    if (report.name == name) return std::move(report);
  }
  return std::nullopt;
}

HttpResponse no_pair(std::string_view name) {
  return error_answer(404, fmt::format("no failover pair '{}'", escape_control(name)));
}

HttpResponse taken(FailoverView& view, const Ask& ask, FailoverView::Written written) {
  if (!written) return order_refused(written.error());
  const auto report = find(&view, ask.name);
  if (!report) return no_pair(ask.name);
  HttpResponse answer = json_answer(pair_json(*report), 202);
  answer.hold = hold_until(*std::move(written));
  return answer;
}

/// `switchover` and `failover`: only the second may be forced.
HttpResponse hand_over(FailoverView* view, const Ask& ask, bool may_force) {
  const auto order =
      may_force ? parse_order(ask.request, {"to", "force"}) : parse_order(ask.request, {"to"});
  if (!order) return order_refused(order.error());
  auto to = order_text(*order, "to");
  if (!to) return order_refused(to.error());
  const json::value* const flag = order->if_contains("force");
  if (flag != nullptr && !flag->is_bool()) return error_answer(400, "'force' is no flag");
  const bool force = flag != nullptr && flag->get_bool();
  if (force && to->empty()) return error_answer(400, "'force' needs 'to': which node is right");
  if (view == nullptr) return no_pair(ask.name);
  return taken(*view, ask,
               view->hand_over(ask.name, *std::move(to), force, order_by(*order, ask.who)));
}

HttpResponse pause(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {"for"});
  if (!order) return order_refused(order.error());
  const auto text = order_text(*order, "for");
  if (!text) return order_refused(text.error());
  const auto time = text->empty() ? std::optional(Duration::zero()) : parse_duration(*text);
  if (!time) return error_answer(400, "'for' is no duration: write 30m");
  if (view == nullptr) return no_pair(ask.name);
  return taken(*view, ask, view->pause_pair(ask.name, *time, order_by(*order, ask.who)));
}

HttpResponse resume(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {});
  if (!order) return order_refused(order.error());
  if (view == nullptr) return no_pair(ask.name);
  return taken(*view, ask, view->resume_pair(ask.name));
}

HttpResponse health(const FailoverView* view, const Ask& ask, bool primary) {
  const auto report = find(view, ask.name);
  if (!report) return no_pair(ask.name);
  const json::object body{{"name", report->name},
                          {"node", report->node},
                          {"role", report->serves ? "primary" : "replica"}};
  if (primary) return json_answer(body, report->serves ? 200 : 503);
  const Query query(ask.request.query);
  bool well = report->own.nb == Copy::kFollowing && report->own.sb == Copy::kFollowing;
  if (query.has("lag")) {
    const auto most = parse_number<std::size_t>(query.value("lag"));
    if (!most) return error_answer(400, "'lag' is no number of commits");
    const auto lag = judge::failover::lag_of(report->own, report->record);
    well = well && lag && *lag <= *most;
  }
  return json_answer(body, well ? 200 : 503);
}

}  // namespace

json::object pair_json(const PairReport& report) {
  json::object pair;
  pair["name"] = report.name;
  pair["node"] = report.node;
  pair["mode"] = report.acts ? "act" : "observe";
  pair["role"] = report.serves ? "primary" : "replica";
  pair["address"] = report.address;
  pair["has_address"] = report.has_address;
  pair["active"] = text_or_null(report.active);
  pair["epoch"] = report.record.epoch;
  pair["leader"] = text_or_null(report.leader);
  pair["lock"] = judge::failover::to_string(report.lock);
  pair["next"] = json::object{{"duty", judge::failover::to_string(report.next.duty)},
                              {"why", report.next.reason}};
  pair["candidate"] =
      json::object{{"verdict", judge::failover::to_string(report.candidacy.verdict)},
                   {"why", escape_control(report.candidacy.reason)}};
  json::array& members = pair["members"].emplace_array();
  members.push_back(member_json(report.own, report));
  for (const Member& member : report.members) members.push_back(member_json(member, report));
  pair["missing"] = json::array(report.missing.begin(), report.missing.end());
  pair["paused_by"] = text_or_null(report.paused_by);
  pair["order"] = text_or_null(report.order);
  json::array& history = pair["history"].emplace_array();
  for (const judge::failover::PastPromotion& past : report.history) {
    history.push_back(json::object{{"epoch", past.epoch},
                                   {"node", past.node},
                                   {"at", format_utc(past.at)},
                                   {"why", past.reason}});
  }
  pair["age_ms"] = report.age ? json::value(to_ms(*report.age)) : json::value(nullptr);
  pair["complaints"] = json::array(report.complaints.begin(), report.complaints.end());
  return pair;
}

std::vector<Route> failover_routes(FailoverView* view) {
  std::vector<Route> routes;
  routes.push_back({.method = "GET",
                    .path = "/api/v1/failover",
                    .least = Role::kViewer,
                    .answer = [view](const Ask&) {
                      json::object answer;
                      json::array& pairs = answer["failover"].emplace_array();
                      if (view == nullptr) return json_answer(answer);
                      for (const PairReport& report : view->pairs())
                        pairs.push_back(pair_json(report));
                      return json_answer(answer);
                    }});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/failover/{name}",
                    .least = Role::kViewer,
                    .answer = [view](const Ask& ask) {
                      const auto report = find(view, ask.name);
                      return report ? json_answer(pair_json(*report)) : no_pair(ask.name);
                    }});
  const auto order = [&routes](std::string_view path, Role least,
                               std::function<HttpResponse(const Ask&)> answer) {
    routes.push_back({.method = "POST", .path = path, .least = least, .answer = std::move(answer)});
  };
  order("/api/v1/failover/{name}/switchover", Role::kAdmin,
        [view](const Ask& ask) { return hand_over(view, ask, false); });
  order("/api/v1/failover/{name}/failover", Role::kAdmin,
        [view](const Ask& ask) { return hand_over(view, ask, true); });
  order("/api/v1/failover/{name}/pause", Role::kOperator,
        [view](const Ask& ask) { return pause(view, ask); });
  order("/api/v1/failover/{name}/resume", Role::kOperator,
        [view](const Ask& ask) { return resume(view, ask); });
  // As Patroni has them; OPTIONS is what HAProxy asks with by default.
  for (const std::string_view method : {"GET", "OPTIONS"}) {
    routes.push_back({.method = method,
                      .path = "/primary/{name}",
                      .least = Role::kNone,
                      .answer = [view](const Ask& ask) { return health(view, ask, true); },
                      .frequent = true,
                      .urgent = true});
    routes.push_back({.method = method,
                      .path = "/replica/{name}",
                      .least = Role::kNone,
                      .answer = [view](const Ask& ask) { return health(view, ask, false); },
                      .frequent = true,
                      .urgent = true,
                      .fields = {"lag"}});
  }
  return routes;
}

}  // namespace wardmote::serve
