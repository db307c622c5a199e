#include "serve/history.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "serve/answer.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "store/history.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostEvents = 10'000;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(escape_control(text));
}

json::object to_json(const store::Event& event) {
  json::object shown;
  shown["id"] = event.id;
  shown["at"] = format_utc(event.at);
  shown["kind"] = event.kind;
  shown["scope"] = event.scope;
  shown["subject"] = escape_control(event.subject);
  json::array names;
  for (const std::string_view name : split(event.names, ' ')) {
    if (!name.empty()) names.emplace_back(escape_control(name));
  }
  shown["names"] = std::move(names);
  shown["code"] = text_or_null(event.code);
  shown["severity"] = text_or_null(event.severity);
  shown["incident"] = event.incident == 0 ? json::value(nullptr) : json::value(event.incident);
  boost::system::error_code broken;
  json::value data = json::parse(event.data, broken);
  shown["data"] = data.is_object() ? std::move(data) : json::value(json::object());
  return shown;
}

}  // namespace

Result<store::EventQuery> parse_event_query(std::string_view text, WallTime now) {
  const Query query(text);
  if (const auto unknown = query.unknown({"since", "subject", "incident", "most"})) {
    return fail(Errc::kInvalid, "no field '{}' is known here", escape_control(*unknown, 64));
  }
  store::EventQuery wanted;
  wanted.subject = query.value("subject");
  if (query.has("since")) {
    const auto ago = parse_duration(query.value("since"));
    if (!ago) return fail(Errc::kInvalid, "since: write how long ago, for example 6h");
    wanted.since = now - *ago;
  }
  if (query.has("incident")) {
    const auto number = parse_number<std::int64_t>(query.value("incident"));
    if (!number || *number < 1) return fail(Errc::kInvalid, "incident: write its number");
    wanted.incident = *number;
  }
  if (query.has("most")) {
    const auto number = parse_number<std::size_t>(query.value("most"));
    if (!number || *number < 1 || *number > kMostEvents) {
      return fail(Errc::kInvalid, "most: write 1 to {}", kMostEvents);
    }
    wanted.most = *number;
  }
  return wanted;
}

json::object history_json(const store::History& history, const store::EventQuery& query,
                          WallTime now) {
  const auto found = history.find(query);
  json::object body;
  body["at"] = format_utc(now);
  body["complete"] =
      found.size() < query.most && history.reaches(query.since.value_or(WallTime::min()));
  body["stored"] = history.stored();
  const auto& complaint = history.counters().complaint;
  body["complaint"] = complaint ? json::value(escape_control(*complaint)) : json::value(nullptr);
  body["dropped"] = history.counters().dropped;
  json::array events;
  for (const store::Event& event : found) events.emplace_back(to_json(event));
  body["events"] = std::move(events);
  return body;
}

Route history_route(const store::History& history) {
  return {"GET", "/api/v1/history", Role::kViewer, [&history](const Ask& ask) {
            const auto wanted = parse_event_query(ask.request.query, ask.view.wall_now);
            if (!wanted) return error_answer(400, wanted.error().context);
            return json_answer(history_json(history, *wanted, ask.view.wall_now));
          }};
}

}  // namespace wardmote::serve
