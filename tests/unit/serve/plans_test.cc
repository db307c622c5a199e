#include "serve/plans.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "serve/api.h"
#include "unit/serve/fake_plan_control.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::plan::Plan;
using judge::plan::Planner;
using judge::plan::PlanState;
using namespace std::chrono_literals;

constexpr TimePoint kNow = FakePlanControl::kNow;

class PlanRoutes : public ::testing::Test {
 protected:
  PlanRoutes() {
    view_.now = kNow;
    view_.wall_now = WallTime(1000h);
    for (Route& route : plan_routes(control_)) api_.add(std::move(route));
  }
  static AccessRules rules() {
    AccessRules rules;
    rules.users[0] = Role::kAdmin;
    rules.users[1000] = Role::kOperator;
    return rules;
  }
  runtime::HttpResponse ask(std::string method, std::string path, std::string body = "",
                            std::uint32_t user = 1000, std::string query = "") {
    runtime::HttpRequest request{
        .method = std::move(method), .path = std::move(path), .query = std::move(query)};
    request.body = std::move(body);
    request.headers.emplace_back("content-type", "application/json");
    request.peer.process = runtime::Peer::Process{.user = user};
    return api_.answer(request);
  }
  json::object body_of(const runtime::HttpResponse& response) {
    return json::parse(response.body).as_object();
  }

  AgentView view_;
  FakePlanControl control_;
  Api api_{[this]() -> const AgentView& { return view_; }, rules()};
};

TEST_F(PlanRoutes, ShowWhatIsPlannedEscaped) {
  const auto shown = body_of(ask("GET", "/api/v1/plans"));
  EXPECT_EQ(shown.at("frozen").as_string(), "a storm rages");
  const json::object& plan = shown.at("plans").as_array().at(0).as_object();
  EXPECT_EQ(plan.at("state").as_string(), "unclear");
  EXPECT_EQ(plan.at("why").as_string(), "a \\x1b[31mghost");
  EXPECT_EQ(plan.at("age_ms").to_number<int>(), 60'000);
  EXPECT_EQ(ask("GET", "/api/v1/plans/9").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/plans", "", 1000, "al=true").status, 400);
}

TEST_F(PlanRoutes, ApprovalIsForAdminsAndRejectionForOperators) {
  EXPECT_EQ(ask("POST", "/api/v1/plans/3/approve", "{}", 1000).status, 403);
  EXPECT_EQ(ask("POST", "/api/v1/plans/3/approve", "{}", 0).status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/plans/3/approve", "{}", 0).status, 409);
  EXPECT_EQ(ask("POST", "/api/v1/plans/9/approve", "{}", 0).status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/plans/3/reject", "{}", 1000).status, 200) << "it runs";
  EXPECT_EQ(ask("POST", "/api/v1/plans/3/reject", "{}", 1000).status, 409) << "it has ended";
}

TEST_F(PlanRoutes, WhatForbidsAPlanIsSaid) {
  const auto refused = ask("POST", "/api/v1/plans", R"({"cluster": "nb", "member": "a"})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_TRUE(refused.body.contains("quorum would be lost")) << refused.body;
  EXPECT_EQ(ask("POST", "/api/v1/plans", R"({"cluster": "sb", "member": "a"})").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/plans", R"({"cluster": 3})").status, 400);
}

TEST_F(PlanRoutes, PausesHaveAScopeAndAnEnd) {
  EXPECT_EQ(ask("POST", "/api/v1/pauses", R"({"for": "soon"})").status, 400);
  const auto paused = ask("POST", "/api/v1/pauses", R"({"scope": "all", "for": "2h"})");
  ASSERT_EQ(paused.status, 200) << paused.body;
  const json::array pauses = body_of(paused).at("pauses").as_array();
  ASSERT_EQ(pauses.size(), 1U);
  EXPECT_EQ(pauses.at(0).at("scope").as_string(), "all");
  EXPECT_TRUE(control_.planner().paused("nb", kNow));
  EXPECT_FALSE(control_.planner().paused("nb", kNow + 3h));
  EXPECT_EQ(ask("DELETE", "/api/v1/pauses/all").status, 200);
  EXPECT_EQ(ask("DELETE", "/api/v1/pauses/all").status, 404);
}

// A mistyped key, and everything stood still.
TEST_F(PlanRoutes, APauseThatNamesNoClusterPausesNone) {
  for (const char* body :
       {R"({"cluster": "nb", "fro": "2h"})", R"({"for": "2h"})", "{}", R"({"scope": ""})",
        R"({"scope": "nb", "scope": "all"})", R"({"scope": "nb", "for": ""})",
        R"({"scope": "nb", "for": "0s"})", R"({"scope": "nb", "for": "8761h"})"}) {
    EXPECT_EQ(ask("POST", "/api/v1/pauses", body).status, 400) << body;
  }
  EXPECT_TRUE(control_.planner().pauses().empty());
}

TEST_F(PlanRoutes, NoOrderTakesAKeyThatItDoesNotKnow) {
  for (const char* path :
       {"/api/v1/plans", "/api/v1/plans/3/approve", "/api/v1/plans/3/reject", "/api/v1/pauses"}) {
    const auto refused = ask("POST", path, R"({"coment": "no"})", 0);
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_TRUE(refused.body.contains("coment")) << refused.body;
  }
  EXPECT_EQ(ask("DELETE", "/api/v1/pauses/all", R"({"scope": "nb"})").status, 400);
}

TEST_F(PlanRoutes, TheJournalIsShownOldestFirst) {
  for (const std::int64_t plan : {3, 4, 3}) {
    const auto sequence = static_cast<std::int64_t>(control_.actions_.size()) + 1;
    control_.actions_.push_back(
        {.sequence = sequence, .kind = "intent", .plan = plan, .actor = "ann"});
  }
  const auto shown = body_of(ask("GET", "/api/v1/actions", "", 1000, "plan=3"));
  EXPECT_FALSE(shown.at("stored").as_bool());
  ASSERT_EQ(shown.at("actions").as_array().size(), 2U);
  EXPECT_EQ(shown.at("actions").at(0).at("sequence").as_int64(), 1);
  EXPECT_EQ(body_of(ask("GET", "/api/v1/actions", "", 1000, "limit=1"))
                .at("actions")
                .at(0)
                .at("sequence")
                .as_int64(),
            3);
  EXPECT_EQ(ask("GET", "/api/v1/actions", "", 1000, "plan=x").status, 400);
}

}  // namespace
}  // namespace wardmote::serve
