#include "serve/notify_control.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/route_trace.h"
#include "judge/notify/router.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::notify::Labels;
using judge::notify::RouteTrace;
using judge::notify::Silence;
using runtime::HttpResponse;

namespace {

constexpr std::size_t kMostMatchers = 16;
constexpr Duration kLongestSilence = std::chrono::days(365);

json::object to_json(const Silence& silence, WallTime now) {
  json::object shown;
  shown["id"] = silence.id;
  shown["name"] = silence.name.empty() ? json::value(nullptr) : json::value(silence.name);
  json::array match;
  for (const auto& matcher : silence.match) match.emplace_back(escape_control(to_string(matcher)));
  shown["match"] = std::move(match);
  shown["from"] = format_utc(silence.from);
  shown["until"] = format_utc(silence.until);
  shown["by"] = escape_control(silence.by);
  shown["comment"] = escape_control(silence.comment);
  shown["active"] = now >= silence.from && now < silence.until;
  return shown;
}

HttpResponse silences(const NotifyControl& control, const Ask& ask) {
  json::array all;
  for (const auto* const some : {&control.muting().configured(), &control.muting().silences()}) {
    for (const Silence& silence : *some) all.emplace_back(to_json(silence, ask.view.wall_now));
  }
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["silences"] = std::move(all);
  return json_answer(body);
}

Result<Silence> parse_silence(const json::object& order, const Ask& ask) {
  Silence silence;
  const json::value* const match = order.if_contains("match");
  const json::array* const list = match == nullptr ? nullptr : match->if_array();
  if (list == nullptr || list->empty() || list->size() > kMostMatchers) {
    return fail(Errc::kInvalid, "'match' is not a list of 1 to {} matchers", kMostMatchers);
  }
  for (const json::value& each : *list) {
    const json::string* const text = each.if_string();
    if (text == nullptr) return fail(Errc::kInvalid, "a matcher is a text");
    auto matcher = judge::notify::parse_matcher(*text);
    if (!matcher) return std::unexpected(matcher.error());
    silence.match.push_back(*std::move(matcher));
  }
  const auto span = order_text(order, "for");
  if (!span) return std::unexpected(span.error());
  const auto length = parse_duration(*span);
  if (!length || *length <= Duration::zero())
    return fail(Errc::kInvalid, "'for' is how long it lasts: write for example 2h");
  if (*length > kLongestSilence) {
    return fail(Errc::kInvalid, "'for' is {} at most: write how long it lasts, for example 2h",
                spell_duration(kLongestSilence));
  }
  auto comment = order_text(order, "comment");
  if (!comment) return std::unexpected(comment.error());
  silence.comment = *std::move(comment);
  silence.by = order_by(order, ask.who);
  silence.from = ask.view.wall_now;
  silence.until = silence.from + *length;
  return silence;
}

HttpResponse add_silence(NotifyControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {"match", "for", "comment"});
  if (!order) return order_refused(order.error());
  auto silence = parse_silence(*order, ask);
  if (!silence) return order_refused(silence.error());
  const Result<Silence> added = control.add_silence(*std::move(silence));
  if (!added) return order_refused(added.error());
  HttpResponse answer = json_answer(to_json(*added, ask.view.wall_now), 201);
  answer.hold = control.written();
  return answer;
}

HttpResponse expire_silence(NotifyControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {});
  if (!order) return order_refused(order.error());
  const auto id = parse_number<std::int64_t>(ask.name).value_or(0);
  const Result<void> expired = control.expire_silence(id);
  if (!expired) return order_refused(expired.error());
  json::object body;
  body["id"] = id;
  HttpResponse answer = json_answer(body);
  answer.hold = control.written();
  return answer;
}

json::object to_json(const DeliveryFate& fate, const Ask& ask) {
  json::object shown;
  shown["key"] = escape_control(fate.key);
  shown["good"] = fate.good;
  shown["reason"] = escape_control(fate.reason);
  shown["at"] = format_utc(ask.view.wall_now + (fate.at - ask.view.now));
  return shown;
}

json::object to_json(const std::string& name, const ReceiverState& state, std::size_t waiting,
                     const Ask& ask) {
  json::object shown;
  shown["name"] = name;
  shown["kind"] = state.kind;
  shown["delivered"] = state.delivered;
  shown["refused"] = state.refused;
  shown["dead"] = state.dead;
  shown["waiting"] = waiting;
  shown["last"] = state.last ? json::value(to_json(*state.last, ask)) : json::value(nullptr);
  json::array tests;
  for (const DeliveryFate& test : state.tests) tests.emplace_back(to_json(test, ask));
  shown["tests"] = std::move(tests);
  return shown;
}

HttpResponse receivers(const NotifyControl& control, const Ask& ask) {
  std::map<std::string, std::size_t> waiting;
  for (const auto& [id, group] : control.router().groups()) {
    if (group.pending) ++waiting[group.receiver];
  }
  json::array all;
  for (const auto& [name, state] : control.receivers()) {
    all.emplace_back(to_json(name, state, waiting[name], ask));
  }
  json::array dead;
  for (const auto& letter : control.dead_letters()) {
    json::object shown;
    shown["key"] = escape_control(letter.notice.key());
    shown["receiver"] = letter.notice.receiver;
    shown["reason"] = escape_control(letter.reason);
    shown["at"] = format_utc(ask.view.wall_now + (letter.at - ask.view.now));
    shown["attempts"] = letter.attempts;
    json::array incidents;
    for (const auto& item : letter.notice.items) incidents.emplace_back(item.incident.id);
    shown["incidents"] = std::move(incidents);
    dead.emplace_back(std::move(shown));
  }
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["receivers"] = std::move(all);
  body["groups"] = control.router().groups().size();
  body["dead_letters"] = std::move(dead);
  return json_answer(body);
}

std::string_view fate_word(RouteTrace::Fate fate) {
  switch (fate) {
    case RouteTrace::Fate::kTakes: return "takes";
    case RouteTrace::Fate::kNoMatch: return "no_match";
    case RouteTrace::Fate::kNotReached: return "not_reached";
  }
  return "no_match";
}

json::object to_json(const RouteTrace& trace, const judge::notify::Route& route) {
  json::object shown;
  shown["number"] = trace.number;
  shown["receiver"] = route.receiver;
  json::array match;
  for (const auto& matcher : route.match) match.emplace_back(escape_control(to_string(matcher)));
  shown["match"] = std::move(match);
  shown["continue"] = route.go_on;
  shown["fate"] = fate_word(trace.fate);
  shown["missed"] =
      trace.missed ? json::value(escape_control(to_string(*trace.missed))) : json::value(nullptr);
  shown["rests_until"] =
      trace.rests_until ? json::value(format_utc(*trace.rests_until)) : json::value(nullptr);
  shown["group"] = trace.fate == RouteTrace::Fate::kTakes ? json::value(escape_control(trace.group))
                                                          : json::value(nullptr);
  return shown;
}

/// The labels of a query.
Result<Labels> parse_labels(const Query& query) {
  Labels labels;
  for (const std::string& text : query.values("label")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Errc::kInvalid, "label '{}': write for example label=root=cluster:ovn-nb",
                  escape_control(text, 64));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

HttpResponse traced_routes(const NotifyControl& control, const Ask& ask) {
  const auto given = parse_labels(Query(ask.request.query));
  if (!given) return error_answer(400, given.error().context);
  const auto labels = control.complete(*given);
  if (!labels) return error_answer(400, labels.error().context);
  const auto& all = control.router().policy().routes;
  json::array routes;
  json::array told;
  for (const RouteTrace& trace : judge::notify::trace_routes(all, *labels, ask.view.wall_now)) {
    const judge::notify::Route& route = all[trace.number - 1];
    routes.emplace_back(to_json(trace, route));
    const bool takes = trace.fate == RouteTrace::Fate::kTakes;
    if (takes && std::ranges::find(told, json::value(route.receiver)) == told.end())
      told.emplace_back(route.receiver);
  }
  json::object shown;
  for (const auto& [name, value] : *labels) shown[name] = escape_control(value);
  const auto muted = control.muting().by(*labels, ask.view.wall_now);
  json::object body;
  body["at"] = format_utc(ask.view.wall_now);
  body["labels"] = std::move(shown);
  body["muted_by"] = muted ? json::value(escape_control(*muted)) : json::value(nullptr);
  body["receivers"] = std::move(told);
  body["routes"] = std::move(routes);
  return json_answer(body);
}

HttpResponse send_test(NotifyControl& control, const Ask& ask) {
  const auto order = parse_order(ask.request, {});
  if (!order) return order_refused(order.error());
  const auto key = control.send_test(std::string(ask.name));
  if (!key) return order_refused(key.error());
  json::object body;
  body["key"] = escape_control(*key);
  return json_answer(body);
}

}  // namespace

std::vector<Route> notify_routes(NotifyControl& control) {
  Route traced{"GET", "/api/v1/routes", Role::kViewer,
               [&control](const Ask& ask) { return traced_routes(control, ask); }};
  traced.fields = {"label"};
  return {
      std::move(traced),
      {"GET", "/api/v1/silences", Role::kViewer,
       [&control](const Ask& ask) { return silences(control, ask); }},
      {"POST", "/api/v1/silences", Role::kOperator,
       [&control](const Ask& ask) { return add_silence(control, ask); }},
      {"DELETE", "/api/v1/silences/{id}", Role::kOperator,
       [&control](const Ask& ask) { return expire_silence(control, ask); }},
      {"GET", "/api/v1/receivers", Role::kViewer,
       [&control](const Ask& ask) { return receivers(control, ask); }},
      {"POST", "/api/v1/receivers/{name}/test", Role::kOperator,
       [&control](const Ask& ask) { return send_test(control, ask); }},
  };
}

}  // namespace wardmote::serve
