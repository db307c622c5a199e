#include "cli/agent_client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>
#include <utility>

#include "net/asio_runtime.h"
#include "net/http_server.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Endpoint;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Task;

HttpResponse answer_of_a_fake_agent(const HttpRequest& request) {
  if (request.path == "/api/v1/status") return {.body = R"({"verdict":"ok"})"};
  if (request.path == "/api/v1/checks") return {.body = "<html>"};
  if (request.path == "/api/v1/members") return {.status = 503};
  if (request.path == "/api/v1/findings") return {.status = 403};
  if (request.path == "/livez") {
    std::string body = request.query;
    for (const auto& [name, value] : request.headers) {
      if (name == "authorization") body += " " + value;
    }
    return {.body = body};
  }
  if (request.path == "/api/v1/incidents") return {.status = 400};
  if (request.path == "/api/v1/meshes") {
    if (request.query.empty()) return {.body = R"({"total":3,"next":1,"meshes":[1]})"};
    if (request.query == "limit=1000&offset=1")
      return {.body = R"({"total":3,"next":2,"meshes":[2]})"};
    return {.body = R"({"total":3,"next":null,"meshes":[3]})"};
  }
  if (request.path == "/api/v1/clusters")
    return {.body = R"({"next":0,"clusters":[1,"the agent sends him in a circle"]})"};
  if (request.path == "/overview/status")
    return {.body = R"({"totals":{"meshes":3,"gates":1},"meshes":[9],"gates":["g"]})"};
  return {.status = 404,
          .body = R"({"error":{"status":404,"message":"no cluster is named 'a b'"}})"};
}

/// A fake agent on a socket of its own, and a client that knows two places: the first has no agent.
class AgentClientTest : public ::testing::Test {
 protected:
  AgentClientTest() : server_(runtime_) {
    EXPECT_TRUE(server_.start(at_, {}, answer_of_a_fake_agent).has_value());
  }
  ~AgentClientTest() override { runtime_.run(server_.stop()); }

  Answer<json::value> ask(std::string path) {
    AgentClient client(runtime_, {{Endpoint::unix_socket(socket_ + ".none"), at_}, false});
    return net::run_task(runtime_, client.get_json(std::move(path)));
  }

  net::AsioRuntime runtime_;
  std::string socket_ = testing::TempDir() + "wardmote-cli-" + std::to_string(::getpid()) + ".sock";
  Endpoint at_ = Endpoint::unix_socket(socket_);
  net::StreamHttpServer server_;
};

TEST_F(AgentClientTest, AsksTheFirstThatAnswers) {
  const Answer<json::value> answer = ask("/api/v1/status");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(*answer, (json::object{{"verdict", "ok"}}));
}

TEST_F(AgentClientTest, ShowsItsTokenWhenItHasOne) {
  AgentClient without(runtime_, {{at_}, true});
  EXPECT_EQ(net::run_task(runtime_, without.get("/livez", "verbose"))->body, "verbose");
  AgentClient with(runtime_, {{at_}, true, "0123456789abcdef"});
  EXPECT_EQ(net::run_task(runtime_, with.get("/livez"))->body, " Bearer 0123456789abcdef");
}

TEST_F(AgentClientTest, ReadsAllPagesOfAList) {
  EXPECT_EQ(*ask("/api/v1/meshes"),
            json::parse(R"({"total": 3, "next": null, "meshes": [1, 2, 3]})"));
  EXPECT_EQ(ask("/api/v1/clusters")->at("clusters").as_array().size(), 2U);
  EXPECT_EQ(*ask("/overview/status"),
            json::parse(R"({"totals": {"meshes": 3, "gates": 1}, "meshes": [1, 2, 3],
                            "gates": ["g"]})"))
      << "what the overview has cut off is read from its own path";
}

TEST_F(AgentClientTest, QuotesTheAgentsOwnReason) {
  const Failure failure = ask("/api/v1/clusters/a b").error();
  EXPECT_EQ(failure.exit, Exit::kUsage);
  EXPECT_EQ(failure.message,
            "the agent answers 404 to /api/v1/clusters/a b: no cluster is named 'a b'");
}

TEST_F(AgentClientTest, TellsTemporaryFromForbiddenFromNonsense) {
  EXPECT_EQ(ask("/api/v1/members").error().exit, Exit::kTemporary);
  EXPECT_EQ(ask("/api/v1/incidents").error().exit, Exit::kUsage);
  EXPECT_EQ(ask("/api/v1/findings").error().exit, Exit::kPermission);
  const Failure nonsense = ask("/api/v1/checks").error();
  EXPECT_EQ(nonsense.exit, Exit::kUnreachable);
  EXPECT_TRUE(nonsense.message.ends_with("Does another program listen there?")) << nonsense.message;
}

TEST_F(AgentClientTest, SaysWhereItLookedAndWhatToDo) {
  const std::string nowhere = socket_ + ".none";
  AgentClient client(runtime_, {{Endpoint::unix_socket(nowhere)}, true});
  const Failure failure = net::run_task(runtime_, client.get_json("/api/v1/status")).error();
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_EQ(failure.message,
            "cannot reach the agent at unix:" + nowhere +
                " (missing). Is wardmoted running? Start it, or say where it is with --host, "
                "--socket or WARDMOTE_HOST.");
}

}  // namespace
}  // namespace wardmote::cli
