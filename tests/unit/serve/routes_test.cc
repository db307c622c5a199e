#include "serve/api.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "serve/metrics/metrics.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using runtime::HttpResponse;

HttpResponse get(const AgentView& agent, std::string path, std::string method = "GET") {
  Api api([&agent]() -> const AgentView& { return agent; }, {});
  return api.answer({.method = std::move(method),
                     .path = std::move(path),
                     .query = {},
                     .headers = {{"host", "localhost"}},
                     .body = {}});
}

json::object get_json(const AgentView& agent, std::string path) {
  const HttpResponse response = get(agent, std::move(path));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  return json::parse(response.body).as_object();
}

std::string header(const HttpResponse& response, std::string_view name) {
  const auto found =
      std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? "" : found->second;
}

TEST(Routes, ServesTheApi) {
  const AgentView agent = sample_agent_with_a_hung_member();
  EXPECT_EQ(get_json(agent, "/api/v1/status").at("node"), "ctl-1");
  EXPECT_EQ(get_json(agent, "/api/v1/clusters").at("clusters").as_array().size(), 1U);
  EXPECT_EQ(get_json(agent, "/api/v1/clusters/ovn-nb").at("cluster"), "ovn-nb");
  EXPECT_EQ(get_json(agent, "/api/v1/checks").at("checks").as_array().size(), 1U);

  const json::array members = get_json(agent, "/api/v1/members").at("members").as_array();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[2].at("cluster"), "ovn-nb");
  EXPECT_EQ(members[2].at("database"), "OVN_Northbound");
  EXPECT_EQ(members[2].at("name"), "ctl-3");

  const json::array findings = get_json(agent, "/api/v1/findings").at("findings").as_array();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].at("cluster"), "ovn-nb");
  EXPECT_EQ(findings[0].at("code"), "RAFT_MEMBER_HUNG");
}

TEST(Routes, ServesMeshesAndTheirFindings) {
  AgentView agent = sample_agent();
  MeshView mesh;
  mesh.name = "bgp";
  mesh.judged = agent.now;
  mesh.nodes = {{"r1", "BIRD 2.0.12", "10.0.0.1", {}},
                {"r2", "", "", {judge::ReasonCode::kHung, "no greeting\x1b[2J"}}};
  using enum judge::bgp::MeshCell;
  mesh.assessment.mesh.cells = {{kSelf, kDown}, {kBlind, kSelf}};
  mesh.assessment.outcome = judge::Outcome::kFail;
  judge::Finding finding;
  finding.code = judge::Code::kBgpDaemonDown;
  finding.severity = judge::Severity::kCritical;
  finding.subjects = {"r2"};
  finding.since = agent.now;
  mesh.assessment.findings.push_back(finding);
  agent.meshes.push_back(mesh);

  const json::array meshes = get_json(agent, "/api/v1/meshes").at("meshes").as_array();
  ASSERT_EQ(meshes.size(), 1U);
  EXPECT_EQ(meshes[0].at("mesh"), "bgp");
  EXPECT_EQ(meshes[0].at("outcome"), "fail");
  EXPECT_EQ(meshes[0].at("matrix"), json::parse(R"([["self","down"],["blind","self"]])"));
  EXPECT_EQ(meshes[0].at("nodes").at(0).at("reason"), nullptr);
  EXPECT_EQ(meshes[0].at("nodes").at(1).at("reason"), "hung");
  EXPECT_EQ(meshes[0].at("nodes").at(1).at("detail"), "no greeting\\x1b[2J");
  EXPECT_EQ(get_json(agent, "/api/v1/status").at("meshes").as_array().size(), 1U);
  const json::array findings = get_json(agent, "/api/v1/findings").at("findings").as_array();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].at("mesh"), "bgp");
  EXPECT_EQ(findings[0].at("code"), "BGP_DAEMON_DOWN");
  const std::string metrics = expose_metrics(agent, nullptr);
  for (const char* line : {R"(wardmote_mesh_outcome{mesh="bgp"} 2)",
                           R"(wardmote_mesh_sessions{mesh="bgp",state="down"} 1)",
                           R"(wardmote_mesh_sessions{mesh="bgp",state="blind"} 1)",
                           R"(wardmote_mesh_finding{mesh="bgp",code="BGP_DAEMON_DOWN",)"
                           R"(severity="critical"} 1)"}) {
    EXPECT_TRUE(metrics.contains(line)) << line;
  }
}

TEST(Routes, ServesThePageAndForbidsItEverythingElse) {
  const HttpResponse page = get(sample_agent(), "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(page.body.starts_with("<!doctype html>"));
  EXPECT_TRUE(header(page, "Content-Security-Policy").starts_with("default-src 'none';"));
  for (const char* elsewhere : {"src=\"http", "href=\"http", "src=\"//", "href=\"//"}) {
    EXPECT_EQ(page.body.find(elsewhere), std::string::npos) << elsewhere;
  }
  EXPECT_EQ(get(sample_agent(), "/page.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(get(sample_agent(), "/page.css").content_type, "text/css; charset=utf-8");
}

TEST(Routes, SetsTextAndNeverMarkupInThePage) {
  const std::string script = get(sample_agent(), "/page.js").body;
  for (const char* sink :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("}) {
    EXPECT_EQ(script.find(sink), std::string::npos) << sink;
  }
}

TEST(Routes, AnswersTheUnknownAndTheForbiddenWithJson) {
  const HttpResponse missing = get(sample_agent(), "/api/v1/nothing\x1b[31m");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(json::parse(missing.body).at("error").at("status"), 404);
  EXPECT_EQ(missing.body.find('\x1b'), std::string::npos);
  EXPECT_EQ(get(sample_agent(), "/api/v1/clusters/none").status, 404);
  EXPECT_EQ(get(sample_agent(), "/api/v1/clusters/").status, 404);

  const HttpResponse written = get(sample_agent(), "/api/v1/status", "POST");
  EXPECT_EQ(written.status, 405);
  EXPECT_EQ(header(written, "Allow"), "GET, HEAD");
  EXPECT_EQ(get(sample_agent(), "/livez", "HEAD").status, 200);
}

}  // namespace
}  // namespace wardmote::serve
