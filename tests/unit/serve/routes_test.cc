#include "serve/api.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "serve/bgp/mesh_view.h"
#include "serve/lists.h"
#include "serve/metrics/metrics.h"
#include "serve/query.h"
#include "serve/raft/members.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using runtime::HttpResponse;

HttpResponse get(const AgentView& agent, std::string path, std::string method = "GET") {
  const std::size_t mark = path.find('?');
  std::string query = mark == std::string::npos ? "" : path.substr(mark + 1);
  path.resize(std::min(mark, path.size()));
  Api api([&agent]() -> const AgentView& { return agent; }, {});
  api.add(members_route(nullptr));
  for (const Family* const family : agent.families) {
    for (Route& route : family_routes(*family, nullptr)) api.add(std::move(route));
  }
  return api.answer({.method = std::move(method),
                     .path = std::move(path),
                     .query = std::move(query),
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

/// Checks c0 to c1199, of which the last but one fails.
AgentView agent_with_many_checks() {
  AgentView agent = sample_agent();
  const CheckView good = agent.checks[0];
  agent.checks.clear();
  for (int i = 0; i < 1200; ++i) {
    agent.checks.push_back(good);
    agent.checks.back().name = "c" + std::to_string(i);
  }
  agent.checks[1198].state.state = judge::State::kReported;
  return agent;
}

std::vector<std::string> names_in(const json::object& answer) {
  std::vector<std::string> names;
  for (const json::value& check : answer.at("checks").as_array())
    names.emplace_back(check.at("name").as_string());
  return names;
}

/// A filter that is mistyped would else show everything.
TEST(Routes, RefusesFieldsThatItDoesNotKnow) {
  const AgentView agent = sample_agent();
  for (const char* path :
       {"/api/v1/status", "/api/v1/checks", "/api/v1/clusters", "/api/v1/members",
        "/api/v1/findings", "/api/v1/whoami", "/api/v1/openapi.json", "/api/v1/clusters/ovn-nb"}) {
    const HttpResponse answer = get(agent, std::string(path) + "?bogus=1");
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_TRUE(answer.body.contains("no field 'bogus' is known here")) << answer.body;
    EXPECT_EQ(get(agent, path).status, 200) << path;
  }
  EXPECT_EQ(get(agent, "/livez?timeout=10s").status, 200) << "as kube-apiserver";
  EXPECT_EQ(get(agent, "/page.js?v=2").status, 200);
}

TEST(Query, AFlagIsTrueOrFalse) {
  EXPECT_FALSE(*Query("").flag("all"));
  EXPECT_TRUE(*Query("all=true").flag("all"));
  EXPECT_FALSE(*Query("all=false").flag("all"));
  for (const char* no : {"all", "all=", "all=maybe", "all=1", "all=True"})
    EXPECT_EQ(Query(no).flag("all").error().code, Errc::kInvalid) << no;
}

TEST(Routes, ListsComeInPages) {
  const AgentView agent = agent_with_many_checks();
  const json::object first = get_json(agent, "/api/v1/checks");
  EXPECT_EQ(first.at("total"), 1200);
  EXPECT_EQ(first.at("next"), 500);
  EXPECT_EQ(names_in(first).size(), 500U);
  EXPECT_EQ(names_in(first).front(), "c0");
  const json::object last = get_json(agent, "/api/v1/checks?offset=1000&limit=1000");
  EXPECT_EQ(last.at("next"), nullptr);
  EXPECT_EQ(names_in(last).size(), 200U);
  EXPECT_EQ(names_in(last).front(), "c1000");
  EXPECT_TRUE(names_in(get_json(agent, "/api/v1/checks?offset=99999")).empty());
  for (const char* nonsense : {"limit=0", "limit=1001", "limit=x", "offset=-1", "offset="}) {
    EXPECT_EQ(get(agent, std::string("/api/v1/checks?") + nonsense).status, 400) << nonsense;
    EXPECT_EQ(get(agent, std::string("/api/v1/status?") + nonsense).status, 400) << nonsense;
  }
}

TEST(Routes, AStatusThatDoesNotShowAllShowsWhatIsNotWellFirst) {
  const AgentView agent = agent_with_many_checks();
  const json::object status = get_json(agent, "/api/v1/status?limit=3");
  EXPECT_EQ(status.at("totals"), json::parse(R"({"clusters": 1, "meshes": 0, "checks": 1200})"));
  EXPECT_EQ(names_in(status), (std::vector<std::string>{"c1198", "c0", "c1"}));
  EXPECT_EQ(status.at("verdict"), "critical");
  EXPECT_EQ(names_in(get_json(agent, "/api/v1/status?limit=1000")).front(), "c1198");
}

TEST(Routes, MembersAndFindingsComeInPagesAcrossClusters) {
  AgentView agent = sample_agent_with_a_hung_member();
  ClusterView second = cluster_with_a_hung_member();
  second.id.name = "ovn-sb";
  agent.things.push_back(std::make_shared<ClusterView>(second));
  const auto page = [&](std::string path, std::string_view key, std::string_view field) {
    std::string shown;
    const json::object answer = get_json(agent, std::move(path));
    for (const json::value& item : answer.at(key).as_array()) {
      shown += std::string(item.at("cluster").as_string()) + "/" +
               std::string(item.at(field).as_string()) + " ";
    }
    return shown + json::serialize(answer.at("next"));
  };
  EXPECT_EQ(page("/api/v1/members?limit=2", "members", "name"), "ovn-nb/ctl-1 ovn-nb/ctl-2 2");
  EXPECT_EQ(page("/api/v1/members?limit=2&offset=2", "members", "name"),
            "ovn-nb/ctl-3 ovn-sb/ctl-1 4");
  EXPECT_EQ(page("/api/v1/members?limit=2&offset=4", "members", "name"),
            "ovn-sb/ctl-2 ovn-sb/ctl-3 null");
  EXPECT_EQ(page("/api/v1/findings?limit=1&offset=1", "findings", "code"),
            "ovn-sb/RAFT_MEMBER_HUNG null");
}

TEST(Routes, ServesMeshesAndTheirFindings) {
  AgentView agent = sample_agent();
  MeshView mesh("bgp");
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
  agent.things.push_back(std::make_shared<MeshView>(mesh));

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
