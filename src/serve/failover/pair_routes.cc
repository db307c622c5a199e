#include "serve/failover/pair_routes.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utc.h"
#include "judge/failover/decision.h"
#include "judge/failover/report.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/failover/pair_view.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/written_hold.h"
#include "store/failover_record.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::failover::Copy;
using judge::failover::PairReport;
using runtime::HttpResponse;

namespace {

constexpr std::int64_t kMostPriority = 1000;

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

/// Empty when absent. One that is given and empty, as of a variable that is not set, is refused:
/// leaving it out means another thing.
Result<std::string> given_text(const json::object& order, std::string_view key) {
  auto text = order_text(order, key);
  if (text && text->empty() && order.contains(key))
    return fail(Errc::kInvalid, "'{}' is empty: leave it out, or say what is meant", key);
  return text;
}

HttpResponse switch_over(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {"to", "at"});
  if (!order) return order_refused(order.error());
  auto to = given_text(*order, "to");
  if (!to) return order_refused(to.error());
  const auto when = given_text(*order, "at");
  if (!when) return order_refused(when.error());
  const auto at = parse_utc(*when);
  if (!when->empty() && !at)
    return error_answer(400, "'at' is no time: write 2026-11-20T07:52:35Z");
  if (view == nullptr) return no_pair(ask.name);
  std::string by = order_by(*order, ask.who);
  if (!at)
    return taken(*view, ask, view->hand_over(ask.name, *std::move(to), false, std::move(by)));
  return taken(*view, ask,
               view->schedule(ask.name, {.to = *std::move(to), .by = std::move(by), .at = *at}));
}

HttpResponse flush(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {});
  if (!order) return order_refused(order.error());
  if (view == nullptr) return no_pair(ask.name);
  return taken(*view, ask, view->flush(ask.name));
}

/// As RFC 7396 merges: `null` takes a setting back to the configuration.
HttpResponse edit(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {"node", "priority", "nofailover"});
  if (!order) return order_refused(order.error());
  auto node = order_text(*order, "node");
  if (!node) return order_refused(node.error());
  if (node->empty()) return error_answer(400, "'node' is missing: whose settings to change");
  store::FailoverEdit edit{.node = *std::move(node), .by = order_by(*order, ask.who)};
  if (const json::value* const priority = order->if_contains("priority")) {
    edit.priority.emplace();
    const std::int64_t* const number = priority->if_int64();
    if (number != nullptr) edit.priority->emplace(static_cast<int>(*number));
    const bool known = number != nullptr && *number >= -kMostPriority && *number <= kMostPriority;
    if (!known && !priority->is_null())
      return error_answer(400, "'priority' is no number from -1000 to 1000, and not null");
  }
  if (const json::value* const flag = order->if_contains("nofailover")) {
    edit.nofailover.emplace();
    if (flag->is_bool()) edit.nofailover->emplace(flag->get_bool());
    if (!flag->is_bool() && !flag->is_null())
      return error_answer(400, "'nofailover' is not true, false or null");
  }
  if (!edit.priority && !edit.nofailover)
    return error_answer(400, "nothing is to be changed: give 'priority' or 'nofailover'");
  if (view == nullptr) return no_pair(ask.name);
  return taken(*view, ask, view->edit(ask.name, edit));
}

HttpResponse fail_over(FailoverView* view, const Ask& ask) {
  const auto order = parse_order(ask.request, {"to", "force"});
  if (!order) return order_refused(order.error());
  auto to = given_text(*order, "to");
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
  const auto text = given_text(*order, "for");
  if (!text) return order_refused(text.error());
  const auto time = text->empty() ? std::optional(Duration::zero()) : parse_duration(*text);
  const bool none = time && *time <= Duration::zero() && !text->empty();
  if (!time || none)
    return error_answer(400, "'for' is no duration: write 30m, or leave it out for no end");
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
  const json::object body{{"pair", report->name},
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

std::vector<Route> failover_routes(FailoverView* view) {
  std::vector<Route> routes;
  const auto order = [&routes](std::string_view path, Role least,
                               std::function<HttpResponse(const Ask&)> answer) {
    routes.push_back({.method = "POST", .path = path, .least = least, .answer = std::move(answer)});
  };
  order("/api/v1/failover/{name}/switchover", Role::kAdmin,
        [view](const Ask& ask) { return switch_over(view, ask); });
  order("/api/v1/failover/{name}/failover", Role::kAdmin,
        [view](const Ask& ask) { return fail_over(view, ask); });
  order("/api/v1/failover/{name}/flush", Role::kAdmin,
        [view](const Ask& ask) { return flush(view, ask); });
  order("/api/v1/failover/{name}/edit", Role::kAdmin,
        [view](const Ask& ask) { return edit(view, ask); });
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
