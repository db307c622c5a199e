#include "serve/access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "serve/api.h"
#include "serve/rate_limit.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/logged.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

using namespace std::chrono_literals;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Peer;

constexpr std::string_view kViewerToken = "viewer-0123456789abcdef";
constexpr std::string_view kOperatorToken = "operator-0123456789abcdef";
constexpr std::string_view kAdminToken = "admin-0123456789abcdef";

AccessRules rules() {
  AccessRules rules;
  rules.tokens = {{"grafana", Role::kViewer, codec::sha256(kViewerToken)},
                  {"oncall", Role::kOperator, codec::sha256(kOperatorToken)},
                  {"root", Role::kAdmin, codec::sha256(kAdminToken)}};
  rules.certificates = {{"ops.example", Role::kOperator}, {"watch.example", Role::kViewer}};
  rules.users = {{0, Role::kAdmin}, {998, Role::kAdmin}};
  rules.groups = {{27, Role::kAdmin}, {500, Role::kOperator}};
  rules.hosts = {"ctl-1", "ctl-1.example.net"};
  return rules;
}

HttpRequest over_tcp(std::string_view token = {}) {
  HttpRequest request{.method = "GET",
                      .path = "/api/v1/status",
                      .query = {},
                      .headers = {{"host", "127.0.0.1:9470"}},
                      .body = {},
                      .peer = {}};
  request.peer.address = "127.0.0.1:40000";
  if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + std::string(token));
  return request;
}

HttpRequest from_process(std::uint32_t user, std::uint32_t group,
                         std::vector<std::uint32_t> groups = {}) {
  HttpRequest request = over_tcp();
  request.peer = {.process = Peer::Process{user, group, 4711, std::move(groups)},
                  .address = {},
                  .certificate_names = {}};
  return request;
}

HttpRequest with_certificate(std::vector<std::string> names) {
  HttpRequest request = over_tcp();
  request.peer.certificate_names = std::move(names);
  return request;
}

std::string who(const HttpRequest& request) {
  const auto found = identify(rules(), request);
  return found ? found->name + " " + std::string(to_string(found->role)) : "stranger";
}

TEST(Access, ATokenTellsWhoAsks) {
  EXPECT_EQ(who(over_tcp(kViewerToken)), "token:grafana viewer");
  EXPECT_EQ(who(over_tcp(kOperatorToken)), "token:oncall operator");
  EXPECT_EQ(who(over_tcp("  " + std::string(kAdminToken) + " ")), "token:root admin");
  EXPECT_EQ(who(over_tcp("viewer-0123456789abcdeX")), "stranger");
  EXPECT_EQ(who(over_tcp("viewer-0123456789abcde")), "stranger");
  EXPECT_EQ(who(over_tcp(std::string(10'000, 'x'))), "stranger");
  HttpRequest basic = over_tcp();
  basic.headers.emplace_back("authorization", "Basic " + std::string(kAdminToken));
  EXPECT_EQ(who(basic), "stranger");
}

TEST(Access, AtTheUnixSocketTheKernelTells) {
  EXPECT_EQ(who(from_process(0, 0)), "user:0 admin");
  EXPECT_EQ(who(from_process(998, 100)), "user:998 admin") << "the agent's own user";
  EXPECT_EQ(who(from_process(1000, 100)), "user:1000 viewer") << "the socket's mode let it in";
  EXPECT_EQ(who(from_process(1000, 500)), "user:1000 operator");
  EXPECT_EQ(who(from_process(1000, 100, {4, 500, 27})), "user:1000 admin") << "its best group";
}

TEST(Access, ACertificateTellsByItsBestName) {
  EXPECT_EQ(who(with_certificate({"watch.example", "ops.example"})),
            "certificate:ops.example operator");
  EXPECT_EQ(who(with_certificate({"else.example"})), "anonymous viewer");
}

TEST(Access, AWrongTokenIsNotMadeGoodByOtherEvidence) {
  HttpRequest request = from_process(0, 0);
  request.headers.emplace_back("authorization", "Bearer wrong-0123456789abcdef");
  EXPECT_EQ(who(request), "stranger");
}

TEST(Access, OnlyOwnNamesAndAddressesNameThisHost) {
  for (const char* good :
       {"127.0.0.1:9470", "10.0.0.1", "[::1]:9470", "[fe80::1]", "localhost:9470", "LOCALHOST",
        "wardmote.localhost", "ctl-1:9470", "CTL-1.example.net.", "ctl-1.example.net.:9470"}) {
    EXPECT_TRUE(names_this_host(rules(), good)) << good;
  }
  for (const char* bad :
       {"", "evil.example", "evil.example:9470", "127.0.0.1.evil.example", "localhost.evil.example",
        "notlocalhost", "[evil", "ctl-1.evil.example", ":9470"}) {
    EXPECT_FALSE(names_this_host(rules(), bad)) << bad;
  }
}

TEST(Access, ABrowserTellsOfAnotherSite) {
  HttpRequest request = over_tcp();
  EXPECT_FALSE(from_another_site(request)) << "no browser";
  request.headers.emplace_back("origin", "http://127.0.0.1:9470");
  EXPECT_FALSE(from_another_site(request));
  for (const char* foreign : {"http://evil.example", "http://127.0.0.1:80", "null", "file://"}) {
    request.headers.back().second = foreign;
    EXPECT_TRUE(from_another_site(request)) << foreign;
  }
  request.headers.back() = {"sec-fetch-site", "cross-site"};
  EXPECT_TRUE(from_another_site(request));
}

/// An API with one route for each role, two of them orders.
class Admission : public ::testing::Test {
 protected:
  Admission() {
    const auto ok = [](const Ask&) { return HttpResponse{}; };
    api_.add({"GET", "/open", Role::kNone, ok});
    api_.add({"GET", "/read", Role::kViewer, ok});
    api_.add({"POST", "/act", Role::kOperator, ok});
    api_.add({"DELETE", "/act/{name}", Role::kOperator, ok});
    api_.add({"POST", "/rule", Role::kAdmin, ok});
    api_.add({"GET", "/local", Role::kViewer, ok, true});
  }

  HttpResponse ask(HttpRequest request, std::string method, std::string path) {
    request.method = std::move(method);
    request.path = std::move(path);
    request.headers.emplace_back("content-type", "application/json; charset=utf-8");
    return api_.answer(request);
  }
  int status(const HttpRequest& request, std::string method, std::string path) {
    return ask(request, std::move(method), std::move(path)).status;
  }

  AgentView view_ = sample_agent();
  Api api_{[this]() -> const AgentView& { return view_; }, rules()};
  testing::Logged logged_;
  const std::vector<std::string>& lines_ = logged_.lines();
};

TEST_F(Admission, IsAMatrixOfRolesAndRoutes) {
  AccessRules closed = rules();
  closed.anonymous = Role::kNone;
  struct Row {
    const char* who;
    HttpRequest request;
    std::vector<int> statuses;  ///< /open, /read, POST /act, DELETE /act/x, POST /rule, /local
  };
  const std::vector<Row> closed_rows = {
      {"nobody", over_tcp(), {200, 401, 401, 401, 401, 404}},
      {"a stranger", over_tcp("wrong-0123456789abcdef"), {200, 401, 401, 401, 401, 404}},
      {"a viewer", over_tcp(kViewerToken), {200, 200, 403, 403, 403, 404}},
      {"an operator", over_tcp(kOperatorToken), {200, 200, 200, 200, 403, 404}},
      {"an admin", over_tcp(kAdminToken), {200, 200, 200, 200, 200, 404}},
      {"an operator by certificate",
       with_certificate({"ops.example"}),
       {200, 200, 200, 200, 403, 404}},
      {"a local user", from_process(1000, 100), {200, 200, 403, 403, 403, 200}},
      {"a local operator", from_process(1000, 500), {200, 200, 200, 200, 403, 200}},
      {"root", from_process(0, 0), {200, 200, 200, 200, 200, 200}},
  };
  const std::vector<std::pair<std::string, std::string>> routes = {
      {"GET", "/open"},     {"GET", "/read"},  {"POST", "/act"},
      {"DELETE", "/act/x"}, {"POST", "/rule"}, {"GET", "/local"}};
  api_.set_rules(closed);
  for (const Row& row : closed_rows) {
    for (std::size_t i = 0; i < routes.size(); ++i) {
      EXPECT_EQ(status(row.request, routes[i].first, routes[i].second), row.statuses[i])
          << row.who << " " << routes[i].second;
    }
  }
  api_.set_rules(rules());
  EXPECT_EQ(status(over_tcp(), "GET", "/read"), 200) << "loopback's default: who asks may read";
  EXPECT_EQ(status(over_tcp(), "POST", "/act"), 401);
}

TEST_F(Admission, RefusalsAreJsonAndSayWhatIsMissing) {
  const HttpResponse unknown = ask(over_tcp(), "POST", "/act");
  EXPECT_EQ(unknown.body,
            "{\"error\":{\"status\":401,\"message\":\"this needs the role operator; show a "
            "token\"}}\n");
  const std::pair<std::string, std::string> challenge = {"WWW-Authenticate",
                                                         "Bearer realm=\"wardmote\""};
  EXPECT_NE(std::ranges::find(unknown.headers, challenge), unknown.headers.end());
  EXPECT_EQ(ask(over_tcp(kViewerToken), "POST", "/act").body,
            "{\"error\":{\"status\":403,\"message\":\"this needs the role operator; token:grafana "
            "is viewer\"}}\n");
}

// A full disk answered 503 to an acknowledgement, and the log said 200.
TEST_F(Admission, TheLogTellsWhatAnOrderWasAnsweredInTheEnd) {
  class Late final : public runtime::HttpHold {
   public:
    runtime::Task<std::optional<HttpResponse>> wait() override {
      std::optional<HttpResponse> other;
      other.emplace();
      other->status = 503;
      co_return other;
    }
  };
  api_.add({"POST", "/late", Role::kOperator, [](const Ask&) {
              HttpResponse response;
              response.hold = std::make_shared<Late>();
              return response;
            }});
  HttpResponse held = ask(over_tcp(kOperatorToken), "POST", "/late");
  EXPECT_TRUE(lines_.empty()) << "it is not answered yet";
  sim::World world(1);
  const auto other = run_task(world, world.host("us"), held.hold->wait());
  EXPECT_EQ(other->status, 503);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_TRUE(lines_[0].ends_with("method=POST path=/late status=503")) << lines_[0];
  held = ask(over_tcp(kOperatorToken), "POST", "/late");
  held.hold.reset();
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_TRUE(lines_[1].ends_with("status=unanswered")) << "who asked has left: " << lines_[1];
}

TEST_F(Admission, AForeignPageCannotReadUnderItsOwnName) {
  HttpRequest rebound = over_tcp();
  rebound.headers[0].second = "evil.example:9470";
  EXPECT_EQ(status(rebound, "GET", "/read"), 403);
  EXPECT_EQ(status(rebound, "GET", "/open"), 200);
  rebound.headers.emplace_back("authorization", "Bearer " + std::string(kViewerToken));
  EXPECT_EQ(status(rebound, "GET", "/read"), 200) << "a browser would not have sent a token";
}

TEST_F(Admission, AForeignPageCannotGiveOrders) {
  HttpRequest request = over_tcp(kOperatorToken);
  request.headers.emplace_back("origin", "http://evil.example");
  EXPECT_EQ(status(request, "POST", "/act"), 403);
  EXPECT_EQ(status(request, "GET", "/read"), 200) << "the browser keeps the answer from it";

  HttpRequest form = over_tcp(kOperatorToken);
  form.method = "POST";
  form.path = "/act";
  EXPECT_EQ(api_.answer(form).status, 415) << "what a form can send is no order";
  form.headers.emplace_back("content-type", "text/plain");
  EXPECT_EQ(api_.answer(form).status, 415);
  form.method = "DELETE";
  form.path = "/act/x";
  EXPECT_EQ(api_.answer(form).status, 200) << "no form can send DELETE";
}

TEST_F(Admission, EveryOrderLeavesALineAlsoTheRefusedOnes) {
  ask(over_tcp(kOperatorToken), "POST", "/act");
  ask(over_tcp(kViewerToken), "POST", "/act");
  ask(from_process(0, 0), "DELETE", "/act/x");
  ask(over_tcp(kViewerToken), "GET", "/read");
  ask(over_tcp("wrong-0123456789abcdef"), "POST", "/act");
  const std::vector<std::string> expected = {
      "order who=token:oncall role=operator from=127.0.0.1 method=POST path=/act status=200",
      "order_refused who=token:grafana role=viewer from=127.0.0.1 method=POST path=/act status=403",
      "order who=user:0 role=admin from=user:0 method=DELETE path=/act/x status=200",
      "stranger_refused from=127.0.0.1 path=/act reason=the token is not known"};
  EXPECT_EQ(lines_, expected);
  for (const std::string& line : lines_) EXPECT_FALSE(line.contains("0123456789"));
}

/// The owner of a good token behind the same address, or on the same machine, must not pay.
TEST_F(Admission, GuessingTokensSoonWaitsAndDelaysNobodyElse) {
  const HttpRequest guess = over_tcp("wrong-0123456789abcdef");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status(guess, "GET", "/read"), 401);
  EXPECT_EQ(status(guess, "GET", "/read"), 429);
  EXPECT_EQ(status(over_tcp(kAdminToken), "GET", "/read"), 200) << "he is known";
  HttpRequest certified = with_certificate({"ops.example"});
  EXPECT_EQ(status(certified, "POST", "/act"), 200);
  EXPECT_EQ(status(guess, "POST", "/act"), 429);
  EXPECT_EQ(status(over_tcp(), "GET", "/read"), 200);
  EXPECT_EQ(status(guess, "GET", "/open"), 200);
  HttpRequest elsewhere = over_tcp(kAdminToken);
  elsewhere.peer.address = "10.0.0.9:40000";
  EXPECT_EQ(status(elsewhere, "GET", "/read"), 200);
  view_.now += 1s;
  EXPECT_EQ(status(over_tcp(kAdminToken), "GET", "/read"), 200);
  EXPECT_LE(lines_.size(), 11U);
}

TEST_F(Admission, WhoMayNotGiveAnOrderIsToldBeforeItsBodyIsRead) {
  const auto unread = [&](HttpRequest head, std::string method, std::string path) {
    head.method = std::move(method);
    head.path = std::move(path);
    head.headers.emplace_back("content-type", "application/json");
    const auto refusal = api_.refuse_unread(head);
    return refusal ? refusal->status : 0;
  };
  EXPECT_EQ(unread(over_tcp(), "POST", "/act"), 401);
  EXPECT_EQ(unread(over_tcp("wrong-0123456789abcdef"), "POST", "/act"), 401);
  EXPECT_EQ(unread(over_tcp(kViewerToken), "POST", "/act"), 403);
  EXPECT_EQ(unread(over_tcp(kOperatorToken), "POST", "/act"), 0);
  EXPECT_EQ(unread(over_tcp(kOperatorToken), "POST", "/rule"), 403);
  EXPECT_EQ(unread(over_tcp(kAdminToken), "POST", "/nothing"), 404);
  EXPECT_EQ(unread(over_tcp(kAdminToken), "POST", "/read"), 405);
  EXPECT_EQ(unread(over_tcp(kAdminToken), "GET", "/read"), 413) << "nothing there has a body";
  EXPECT_EQ(unread(over_tcp(), "GET", "/open"), 413);
  EXPECT_EQ(lines_.size(), 4U) << "three refused orders and the stranger, as ever";
  for (int i = 0; i < 50; ++i) EXPECT_EQ(unread(over_tcp(kOperatorToken), "POST", "/act"), 0);
  EXPECT_EQ(status(over_tcp(kOperatorToken), "POST", "/act"), 200) << "no order was given so far";
}

TEST_F(Admission, OnTheReserveOnlyWhatIsUrgentIsAnswered) {
  HttpRequest request = over_tcp(kAdminToken);
  request.on_reserve = true;
  EXPECT_EQ(status(request, "GET", "/read"), 503);
  EXPECT_EQ(status(request, "GET", "/api/v1/status"), 503);
  EXPECT_EQ(status(request, "POST", "/rule"), 503);
  EXPECT_EQ(status(request, "GET", "/livez"), 200);
  EXPECT_NE(status(request, "GET", "/readyz"), 404);
}

TEST_F(Admission, OrdersAreLimitedByWhoGivesThem) {
  int given = 0;
  while (given < 100 && status(over_tcp(kOperatorToken), "POST", "/act") == 200) ++given;
  EXPECT_EQ(given, 20);
  EXPECT_EQ(status(over_tcp(kOperatorToken), "POST", "/act"), 429);
  EXPECT_EQ(status(over_tcp(kAdminToken), "POST", "/act"), 200);
  view_.now += 200ms;
  EXPECT_EQ(status(over_tcp(kOperatorToken), "POST", "/act"), 200);
  EXPECT_EQ(status(over_tcp(kOperatorToken), "POST", "/act"), 429);
}

TEST(RateLimit, RemembersABoundedNumber) {
  RateLimit limit(1, 1s);
  TimePoint now{1000s};
  for (int i = 0; i < 5000; ++i) {
    now += 1ms;
    EXPECT_TRUE(limit.take(std::to_string(i), now));
  }
  EXPECT_FALSE(limit.take("4999", now));
  EXPECT_TRUE(limit.take("0", now)) << "forgotten";
  EXPECT_TRUE(limit.has("4999", now + 1s));
}

}  // namespace
}  // namespace wardmote::serve
