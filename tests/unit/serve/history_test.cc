#include "serve/history.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "serve/api.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

TEST(EventQuery, NonsenseIsRefusedWithWhatToWrite) {
  for (const char* text :
       {"since=yesterday", "since=6", "incident=0", "incident=x", "limit=0", "limit=99999999"}) {
    EXPECT_FALSE(parse_event_query(text, WallTime(1h))) << text;
  }
  EXPECT_TRUE(parse_event_query("limit=0", WallTime(1h)).error().context.starts_with("limit: "));
  const auto query = parse_event_query("since=30m&incident=17&limit=5&subject=nb", WallTime(1h));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->since, WallTime(30min));
  EXPECT_EQ(query->incident, 17);
  EXPECT_EQ(query->most, 5U);
  EXPECT_EQ(query->subject, "nb");
}

class HistoryRoute : public ::testing::Test {
 protected:
  HistoryRoute() {
    store::Event event;
    event.kind = "finding_raised";
    event.scope = "cluster";
    event.subject = "nb";
    event.names = "ctl-2 5b4b";
    event.code = "RAFT_MEMBER_DOWN";
    event.severity = "warning";
    event.data = R"({"summary":"it is down"})";
    history_.add(event);
    event.subject = "sb";
    event.data = "not JSON";
    history_.add(event);
    api_.add(history_route(history_));
    view_.wall_now = world_.host("us").wall_now();
  }
  runtime::HttpResponse get(std::string query) {
    runtime::HttpRequest request{
        .method = "GET", .path = "/api/v1/history", .query = std::move(query)};
    request.peer.process = runtime::Peer::Process{.user = 1000};
    return api_.answer(request);
  }

  sim::World world_{1};
  store::History history_{world_.host("us"), nullptr};
  AgentView view_;
  Api api_{[this]() -> const AgentView& { return view_; }, AccessRules()};
};

TEST_F(HistoryRoute, ShowsWhatHappenedOldestFirst) {
  const json::object body = json::parse(get("").body).as_object();
  EXPECT_TRUE(body.at("complete").as_bool());
  EXPECT_FALSE(body.at("stored").as_bool());
  const json::array& events = body.at("events").as_array();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("subject").as_string(), "nb");
  EXPECT_EQ(events[0].at("names").as_array().size(), 2U);
  EXPECT_EQ(events[0].at("data").at("summary").as_string(), "it is down");
  EXPECT_TRUE(events[0].at("incident").is_null());
  EXPECT_TRUE(events[1].at("data").as_object().empty());
}

TEST_F(HistoryRoute, FiltersAndSaysWhenThereIsMore) {
  const json::object body = json::parse(get("limit=1").body).as_object();
  EXPECT_FALSE(body.at("complete").as_bool());
  EXPECT_EQ(body.at("events").as_array().size(), 1U);
  EXPECT_EQ(json::parse(get("subject=sb").body).at("events").as_array().size(), 1U);
}

TEST_F(HistoryRoute, AWrongQueryIs400) {
  EXPECT_EQ(get("since=x").status, 400);
  EXPECT_EQ(get("colour=red").status, 400);
}

}  // namespace
}  // namespace wardmote::serve
