#include "serve/history.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "serve/answer.h"
#include "serve/query.h"
#include "serve/renderer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "store/history.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

constexpr std::string_view kFields[] = {"since", "subject", "incident", "limit"};
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

/// First the search, which is part of the work, then the answer.
class HistoryRendering final : public Rendering {
 public:
  HistoryRendering(const store::History& history, store::EventQuery query, WallTime now)
      : history_(history),
        search_(std::make_shared<store::History::Search>(history, std::move(query))),
        now_(now) {}

  bool add_piece(std::string& text) override {
    if (answer_) return answer_->add_piece(text);
    if (search_->look_on()) return true;
    std::vector<LongObject::List> lists;
    lists.push_back({"events", search_->size(), [search = search_](std::size_t i) {
                       return json::array{to_json(search->event(i))};
                     }});
    answer_.emplace(head(), std::move(lists));
    return true;
  }

 private:
  [[nodiscard]] json::object head() const {
    const store::HistoryCounters& counters = history_.counters();
    json::object head;
    head["at"] = format_utc(now_);
    head["complete"] = search_->complete();
    head["stored"] = history_.stored();
    head["complaint"] = text_or_null(counters.complaint.value_or(""));
    head["dropped"] = counters.dropped;
    return head;
  }

  const store::History& history_;
  std::shared_ptr<store::History::Search> search_;
  WallTime now_;
  std::optional<LongObject> answer_;
};

/// Equal for two requests that ask for the same.
std::string key_of(const Query& query) {
  std::string key = "/api/v1/history?";
  for (const std::string_view field : kFields)
    key += fmt::format("{}={}&", field, query.value(field));
  return key;
}

}  // namespace

Result<store::EventQuery> parse_event_query(std::string_view text, WallTime now) {
  const Query query(text);
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
  if (query.has("limit")) {
    const auto number = parse_number<std::size_t>(query.value("limit"));
    if (!number || *number < 1 || *number > kMostEvents) {
      return fail(Errc::kInvalid, "limit: write 1 to {}", kMostEvents);
    }
    wanted.most = *number;
  }
  return wanted;
}

Route history_route(const store::History& history, Renderer* renderer) {
  Route route{"GET", "/api/v1/history", Role::kViewer, [&history, renderer](const Ask& ask) {
                const WallTime now = ask.view.wall_now;
                const auto wanted = parse_event_query(ask.request.query, now);
                if (!wanted) return error_answer(400, wanted.error().context);
                return rendered_answer(
                    renderer, "application/json", key_of(Query(ask.request.query)),
                    [&] { return std::make_unique<HistoryRendering>(history, *wanted, now); });
              }};
  route.fields.assign(std::begin(kFields), std::end(kFields));
  return route;
}

}  // namespace wardmote::serve
