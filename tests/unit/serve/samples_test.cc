#include "serve/samples.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "serve/api.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

class SamplesRoute : public ::testing::Test {
 protected:
  SamplesRoute() {
    EXPECT_TRUE(run_task(world_, us_, samples_.open()));
    const store::Measured values[] = {{store::Measure::kTook, 1500}, {store::Measure::kGood, 1}};
    samples_.add("bird", values);
    world_.run_for(1min);
    api_.add(samples_route(samples_));
    api_.add(heat_map_route(samples_));
    view_.wall_now = us_.wall_now();
  }
  ~SamplesRoute() override { world_.run(us_, samples_.stop()); }

  /// As the server does: the answer is what it waits for.
  runtime::HttpResponse get(std::string query, std::string path = "/api/v1/samples") {
    runtime::HttpRequest request{
        .method = "GET", .path = std::move(path), .query = std::move(query)};
    request.peer.process = runtime::Peer::Process{.user = 1000};
    runtime::HttpResponse answer = api_.answer(request);
    if (answer.hold == nullptr) return answer;
    return run_task(world_, us_, answer.hold->wait()).value_or(answer);
  }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
  sim::SimDatabase database_{us_, disk_};
  store::Samples samples_{us_, &database_};
  AgentView view_;
  Api api_{[this]() -> const AgentView& { return view_; }, AccessRules()};
};

TEST_F(SamplesRoute, ShowsEachMeasureOfOneSubject) {
  const json::object body = json::parse(get("subject=bird&since=1h").body).as_object();
  EXPECT_EQ(body.at("subject").as_string(), "bird");
  EXPECT_EQ(body.at("step_s").as_int64(), 60);
  EXPECT_TRUE(body.at("stored").as_bool());
  EXPECT_TRUE(body.at("subjects").is_null());
  const json::array& series = body.at("series").as_array();
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].at("measure").as_string(), "good");
  EXPECT_EQ(series[1].at("measure").as_string(), "took_us");
  const json::object& sample = series[1].at("samples").as_array().at(0).as_object();
  EXPECT_EQ(sample.at("count"), 1);
  EXPECT_EQ(sample.at("sum"), 1500);
  EXPECT_EQ(sample.at("max"), 1500);
}

TEST_F(SamplesRoute, ShowsManyAsAHeatMap) {
  const json::object body =
      json::parse(get("prefix=bi&since=5m", "/api/v1/heatmap").body).as_object();
  EXPECT_EQ(body.at("step_s"), 60);
  EXPECT_TRUE(body.at("complete").as_bool());
  const json::array& rows = body.at("rows").as_array();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("subject").as_string(), "bird");
  json::array seen;
  for (const json::value& cell : rows[0].at("cells").as_array()) {
    if (!cell.is_null()) seen.push_back(cell);
  }
  EXPECT_EQ(seen, json::parse("[[1,1,1500,1500]]"));
  EXPECT_TRUE(json::parse(get("prefix=x", "/api/v1/heatmap").body).at("rows").as_array().empty());
  EXPECT_EQ(get("since=x", "/api/v1/heatmap").status, 400);
}

TEST_F(SamplesRoute, WithoutASubjectItTellsTheirNames) {
  const json::object body = json::parse(get("").body).as_object();
  EXPECT_EQ(body.at("subjects"), json::parse(R"(["bird"])"));
  EXPECT_TRUE(body.at("series").as_array().empty());
}

TEST_F(SamplesRoute, AWrongQueryIs400AndADatabaseThatIsDamaged503) {
  EXPECT_EQ(get("subject=bird&since=x").status, 400);
  EXPECT_EQ(get("colour=red").status, 400);
  disk_.rows("DROP TABLE sample");
  EXPECT_EQ(get("subject=bird").status, 503);
}

}  // namespace
}  // namespace wardmote::serve
