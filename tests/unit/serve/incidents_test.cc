#include "serve/incidents.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "serve/api.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::incident::Book;
using judge::incident::Graph;
using judge::incident::Symptom;
using namespace std::chrono_literals;

constexpr TimePoint kNow{10h};

class FakeControl final : public IncidentControl {
 public:
  FakeControl() {
    book_.raise({.owner = "cluster:nb",
                 .component = "cluster:nb",
                 .code = judge::Code::kRaftNoQuorum,
                 .severity = judge::Severity::kCritical,
                 .names = {},
                 .summary = "no \x1b[31mquorum",
                 .since = kNow - 1min},
                kNow - 1min);
    book_.raise({.owner = "check:a",
                 .component = "check:a",
                 .code = judge::Code::kCheckFailed,
                 .severity = judge::Severity::kWarning,
                 .names = {},
                 .summary = "a fails",
                 .since = kNow},
                kNow);
    const Symptom over{.owner = "check:b",
                       .component = "check:b",
                       .code = judge::Code::kCheckFailed,
                       .severity = judge::Severity::kCritical,
                       .names = {},
                       .summary = "b fails",
                       .since = kNow};
    book_.raise(over, kNow);
    book_.clear(over, kNow);
  }
  const Book& book() const noexcept override { return book_; }
  Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) override {
    const auto steps = book_.acknowledge(id, std::move(by), std::move(comment), kNow);
    if (steps.empty()) return fail(Errc::kMissing, "no such incident");
    return {};
  }

  std::shared_ptr<runtime::HttpHold> written() override { return nullptr; }

 private:
  Book book_{Graph()};
};

class IncidentRoutes : public ::testing::Test {
 protected:
  IncidentRoutes() {
    view_.now = kNow;
    view_.wall_now = WallTime(1000h);
    for (Route& route : incident_routes(control_)) api_.add(std::move(route));
  }
  static AccessRules rules() {
    AccessRules rules;
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

  FakeControl control_;
  AgentView view_;
  Api api_{[this]() -> const AgentView& { return view_; }, rules()};
};

TEST_F(IncidentRoutes, ListTheOpenOnesGravestFirst) {
  const json::object body = json::parse(ask("GET", "/api/v1/incidents").body).as_object();
  EXPECT_FALSE(body.at("acts_frozen").as_bool());
  const json::array& incidents = body.at("incidents").as_array();
  ASSERT_EQ(incidents.size(), 2U);
  EXPECT_EQ(incidents[0].at("code").as_string(), "RAFT_NO_QUORUM");
  EXPECT_EQ(incidents[0].at("age_ms").as_int64(), 60'000);
  EXPECT_EQ(incidents[0].at("summary").as_string(), "no \\x1b[31mquorum");
  EXPECT_EQ(incidents[0].at("standing").as_array().size(), 1U);
}

TEST_F(IncidentRoutes, WithAllTheResolvedOnesFollow) {
  const auto answer = ask("GET", "/api/v1/incidents", "", 1000, "all=true");
  const json::object body = json::parse(answer.body).as_object();
  ASSERT_EQ(body.at("incidents").as_array().size(), 3U);
  EXPECT_EQ(body.at("incidents").as_array()[2].at("phase").as_string(), "resolved");
  EXPECT_EQ(ask("GET", "/api/v1/incidents", "", 1000, "colour=red").status, 400);
}

TEST_F(IncidentRoutes, AnAcknowledgementBearsTheUserWhomTheKernelNames) {
  const auto answer = ask("POST", "/api/v1/incidents/1/ack", R"({"by":"ann","comment":"on it"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json::object shown = json::parse(answer.body).as_object();
  EXPECT_EQ(shown.at("acknowledged").at("by").as_string(), "ann (user:1000)");
  EXPECT_EQ(shown.at("acknowledged").at("comment").as_string(), "on it");
}

TEST_F(IncidentRoutes, AViewerGivesNoOrders) {
  EXPECT_EQ(ask("POST", "/api/v1/incidents/1/ack", "{}", 1001).status, 403);
}

TEST_F(IncidentRoutes, NonsenseIsRefused) {
  EXPECT_EQ(ask("POST", "/api/v1/incidents/99/ack", "{}").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/incidents/x/ack", "{}").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/incidents/1/ack", "[]").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/incidents/1/ack", "{").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/incidents/1/ack", R"({"comment":1})").status, 400);
  EXPECT_EQ(
      ask("POST", "/api/v1/incidents/1/ack", R"({"comment":")" + std::string(300, 'x') + R"("})")
          .status,
      400);
  EXPECT_EQ(ask("GET", "/api/v1/incidents/99").status, 404);
  EXPECT_EQ(ask("DELETE", "/api/v1/incidents/1").status, 405);
}

}  // namespace
}  // namespace wardmote::serve
