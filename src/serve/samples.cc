#include "serve/samples.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/http.h"
#include "runtime/task.h"
#include "serve/answer.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "store/samples.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr Duration kUsually = 24h;
constexpr Duration kHeatUsually = 1h;

json::object to_json(const store::Sample& sample) {
  json::object shown;
  shown["at"] = format_utc(sample.at);
  shown["count"] = sample.count;
  shown["sum"] = sample.sum;
  shown["min"] = sample.least;
  shown["max"] = sample.most;
  return shown;
}

runtime::HttpResponse unavailable(const Error& error) {
  constexpr int kUnavailable = 503;
  return error_answer(kUnavailable, error.describe());
}

/// Holds the answer until the database has returned the data.
class Looking final : public runtime::HttpHold {
 public:
  Looking(store::Samples& samples, SampleQuery query, WallTime now)
      : samples_(samples), query_(std::move(query)), now_(now) {}

  runtime::Task<std::optional<runtime::HttpResponse>> wait() override {
    if (query_.subject.empty()) {
      const auto names = co_await samples_.subjects();
      if (!names) co_return unavailable(names.error());
      json::object body = samples_json({}, "", samples_, now_);
      json::array& subjects = body["subjects"].emplace_array();
      for (const std::string& name : *names) subjects.emplace_back(escape_control(name));
      co_return json_answer(body);
    }
    const auto found = co_await samples_.find(query_.subject, query_.since);
    if (!found) co_return unavailable(found.error());
    co_return json_answer(samples_json(*found, query_.subject, samples_, now_));
  }

 private:
  store::Samples& samples_;
  SampleQuery query_;
  WallTime now_;
};

/// As `Looking`, for a heat map.
class LookingAtMany final : public runtime::HttpHold {
 public:
  LookingAtMany(store::Samples& samples, SampleQuery query, WallTime now)
      : samples_(samples), query_(std::move(query)), now_(now) {}

  runtime::Task<std::optional<runtime::HttpResponse>> wait() override {
    const auto found = co_await samples_.heat(query_.subject, query_.since);
    if (!found) co_return unavailable(found.error());
    co_return json_answer(heat_map_json(*found, samples_, now_));
  }

 private:
  store::Samples& samples_;
  SampleQuery query_;
  WallTime now_;
};

Result<WallTime> since_in(const Query& query, Duration usually, WallTime now) {
  if (!query.has("since")) return now - usually;
  const auto ago = parse_duration(query.value("since"));
  if (!ago) return fail(Errc::kInvalid, "since: write how long ago, for example 24h");
  return now - *ago;
}

json::value to_json(const store::HeatCell& cell) {
  if (cell.looks == 0) return nullptr;
  return json::array{cell.looks, cell.good, cell.took_us, cell.most_took_us};
}

}  // namespace

Result<SampleQuery> parse_sample_query(std::string_view text, WallTime now) {
  const Query query(text);
  const auto since = since_in(query, kUsually, now);
  if (!since) return std::unexpected(since.error());
  return SampleQuery{query.value("subject"), *since};
}

json::object heat_map_json(const store::HeatMap& map, const store::Samples& samples, WallTime now) {
  json::array rows;
  rows.reserve(map.rows.size());
  for (const store::HeatMap::Row& row : map.rows) {
    json::array cells;
    cells.reserve(row.cells.size());
    for (const store::HeatCell& cell : row.cells) cells.emplace_back(to_json(cell));
    rows.emplace_back(
        json::object{{"subject", escape_control(row.subject)}, {"cells", std::move(cells)}});
  }
  return json::object{
      {"at", format_utc(now)},
      {"from", format_utc(map.from)},
      {"step_s", std::chrono::duration_cast<std::chrono::seconds>(map.step).count()},
      {"stored", samples.stored()},
      {"complete", map.complete},
      {"rows", std::move(rows)}};
}

Route heat_map_route(store::Samples& samples) {
  Route route{"GET", "/api/v1/heatmap", Role::kViewer, [&samples](const Ask& ask) {
                const Query query(ask.request.query);
                const auto since = since_in(query, kHeatUsually, ask.view.wall_now);
                if (!since) return error_answer(400, since.error().context);
                runtime::HttpResponse answer;
                answer.hold = std::make_shared<LookingAtMany>(
                    samples, SampleQuery{query.value("prefix"), *since}, ask.view.wall_now);
                return answer;
              }};
  route.fields = {"prefix", "since"};
  return route;
}

json::object samples_json(const store::SampleAnswer& answer, const std::string& subject,
                          const store::Samples& samples, WallTime now) {
  json::object body;
  body["at"] = format_utc(now);
  body["subject"] = escape_control(subject);
  body["step_s"] = std::chrono::duration_cast<std::chrono::seconds>(answer.step).count();
  body["stored"] = samples.stored();
  body["dropped"] = samples.dropped();
  body["subjects"] = nullptr;
  json::array& series = body["series"].emplace_array();
  for (const store::SampleSeries& one : answer.series) {
    json::array points;
    points.reserve(one.samples.size());
    for (const store::Sample& sample : one.samples) points.emplace_back(to_json(sample));
    series.emplace_back(
        json::object{{"measure", escape_control(one.measure)}, {"samples", std::move(points)}});
  }
  return body;
}

Route samples_route(store::Samples& samples) {
  Route route{"GET", "/api/v1/samples", Role::kViewer, [&samples](const Ask& ask) {
                auto wanted = parse_sample_query(ask.request.query, ask.view.wall_now);
                if (!wanted) return error_answer(400, wanted.error().context);
                runtime::HttpResponse answer;
                answer.hold =
                    std::make_shared<Looking>(samples, *std::move(wanted), ask.view.wall_now);
                return answer;
              }};
  route.fields = {"since", "subject"};
  return route;
}

}  // namespace wardmote::serve
