#include "serve/gates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "judge/check_machine.h"
#include "serve/api.h"
#include "serve/health_table.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

using runtime::HttpResponse;

HttpResponse get(const AgentView& agent, std::string path, std::string query = {},
                 Role anonymous = Role::kViewer,
                 std::vector<judge::ReporterStanding> reporters = {}) {
  Api api([&agent]() -> const AgentView& { return agent; }, {.anonymous = anonymous});
  for (Route& route : health_table_routes([reporters] { return reporters; }))
    api.add(std::move(route));
  return api.answer(
      {.method = "GET",
       .path = std::move(path),
       .query = std::move(query),
       .headers = {{"host", "10.0.0.1:9470"}},
       .body = {},
       .peer = {.process = {}, .address = "10.0.0.9:40000", .certificate_names = {}}});
}

/// Two checks behind `ready`, of which `ovn-nb` fails.
AgentView half_ready() {
  AgentView agent = sample_agent_with_a_hung_member();
  CheckView bird = sample_agent().checks[0];
  bird.name = "bird";
  agent.checks.push_back(bird);
  agent.gates[0].checks.push_back(1);
  return agent;
}

TEST(Gates, SayOkAndNothingElseWhenAllIsWell) {
  for (const char* path : {"/readyz", "/livez"}) {
    const HttpResponse good = get(sample_agent(), path);
    EXPECT_EQ(good.status, 200);
    EXPECT_EQ(good.body, "ok");
    EXPECT_EQ(good.content_type, "text/plain; charset=utf-8");
  }
}

TEST(Gates, AnswerAsKubeApiserverDoesWhenAskedForMore) {
  EXPECT_EQ(get(sample_agent(), "/readyz", "verbose").body, "[+]ovn-nb ok\nreadyz check passed\n");
  EXPECT_EQ(get(sample_agent(), "/livez", "verbose=").body, "[+]ping ok\nlivez check passed\n");
}

TEST(Gates, AreAlwaysVerboseWhenOneFails) {
  const HttpResponse bad = get(half_ready(), "/readyz");
  EXPECT_EQ(bad.status, 503);
  EXPECT_EQ(bad.body,
            "[-]ovn-nb failed: reported, state: RAFT_MEMBER_HUNG\n[+]bird ok\n"
            "readyz check failed\n");
}

TEST(Gates, WithholdReasonsFromWhoMayNotRead) {
  const HttpResponse bad = get(half_ready(), "/readyz", "", Role::kNone);
  EXPECT_EQ(bad.status, 503) << "kubelet shows no token";
  EXPECT_EQ(bad.body, "[-]ovn-nb failed: reason withheld\n[+]bird ok\nreadyz check failed\n");
  EXPECT_EQ(get(half_ready(), "/readyz/ovn-nb", "", Role::kNone).body,
            "internal server error: reason withheld\n");
}

TEST(Gates, LeaveOutWhatIsExcludedAndWarnOfTypingErrors) {
  const HttpResponse without = get(half_ready(), "/readyz", "exclude=ovn-nb");
  EXPECT_EQ(without.status, 200);
  EXPECT_EQ(without.body, "ok");
  EXPECT_EQ(get(half_ready(), "/readyz", "verbose&exclude=ovn-nb&exclude=ovn-bn%1b").body,
            "[+]ovn-nb excluded: ok\n[+]bird ok\n"
            "warn: some health checks cannot be excluded: no matches for \"ovn-bn\\x1b\"\n"
            "readyz check passed\n");
  EXPECT_EQ(get(half_ready(), "/readyz", "exclude=bird").status, 503);
}

TEST(Gates, AnswerForOneCheck) {
  EXPECT_EQ(get(half_ready(), "/readyz/bird").body, "ok");
  const HttpResponse bad = get(half_ready(), "/readyz/ovn-nb");
  EXPECT_EQ(bad.status, 503);
  EXPECT_EQ(bad.body, "internal server error: reported, state: RAFT_MEMBER_HUNG\n");
  EXPECT_EQ(get(half_ready(), "/livez/ping").status, 200);
  EXPECT_EQ(get(half_ready(), "/livez/bird").status, 404) << "not of this gate";
  EXPECT_EQ(get(half_ready(), "/readyz/").status, 404);
}

// Of each it said ok.
TEST(Gates, SayHowACheckStandsThatFailsAndClosesNothing) {
  AgentView agent = half_ready();
  agent.gates[0].failing.clear();
  EXPECT_EQ(get(agent, "/readyz").body, "ok") << "others stand in for it";
  EXPECT_EQ(get(agent, "/readyz", "verbose").body,
            "[+]ovn-nb does not count: reported, state: RAFT_MEMBER_HUNG\n[+]bird ok\n"
            "readyz check passed\n");
  EXPECT_EQ(get(agent, "/readyz/ovn-nb").status, 503) << "by itself it does not pass";
  agent.checks[0].optional = true;
  agent.checks[0].state.seen_good = false;
  const HttpResponse never_good = get(agent, "/readyz/ovn-nb");
  EXPECT_EQ(never_good.status, 200);
  EXPECT_EQ(never_good.body, "does not count: reported, state: RAFT_MEMBER_HUNG\n");
  agent.checks[0].state = judge::begin_check({});
  EXPECT_EQ(get(agent, "/readyz/ovn-nb").body, "ok") << "it was not looked at often enough yet";
  agent.checks[0].state.failures = 1;
  EXPECT_TRUE(get(agent, "/readyz/ovn-nb").body.starts_with("does not count: discovery"));
  agent.checks[0].optional = false;
  EXPECT_EQ(get(agent, "/readyz/ovn-nb").status, 503);
}

TEST(Gates, AnAgentThatWasNotSetUpIsAliveAndNotReady) {
  EXPECT_EQ(get(AgentView{}, "/livez").status, 200);
  EXPECT_EQ(get(AgentView{}, "/readyz").status, 503);
  EXPECT_EQ(get(AgentView{}, "/readiness").status, 503);
}

TEST(Gates, AliveIsWhoAnswersUnlessTheOperatorAsksForMore) {
  AgentView agent = half_ready();
  EXPECT_EQ(get(agent, "/livez").status, 200) << "its targets' illness is not its own";
  agent.gates.push_back({"live", false, {0}, {0}});
  EXPECT_EQ(get(agent, "/livez").status, 503);
  EXPECT_EQ(get(agent, "/livez", "exclude=ovn-nb").status, 200);
  EXPECT_EQ(get(agent, "/liveness").status, 503);
}

TEST(Gates, SayThatTheAgentItselfIsDegraded) {
  AgentView agent = sample_agent();
  agent.self.complaint = "prober starved";
  EXPECT_EQ(get(agent, "/readyz", "verbose").body,
            "[+]ovn-nb ok\nwarn: the agent is degraded: prober starved\nreadyz check passed\n");
}

TEST(Gates, AnswerAsFelixDoes) {
  const HttpResponse ready = get(half_ready(), "/readiness");
  EXPECT_EQ(ready.status, 503);
  for (const char* row :
       {"| bird      | -       | -              | reporting ready     | healthy ",
        "| ovn-nb    | -       | -              | reporting non-ready | reported, ",
        "| ping      | -       | reporting live | -                   |  "}) {
    EXPECT_TRUE(ready.body.contains(row)) << ready.body;
  }
  EXPECT_EQ(get(half_ready(), "/liveness").status, 200);
  EXPECT_EQ(get(half_ready(), "/liveness/").status, 404);
}

/// The rows of A9 to A11 of libcalico-go's own tests: source1 times out, source2 never does.
TEST(Gates, AReporterHasOneRowAsInCalicosTable) {
  AgentView agent = sample_agent();
  const std::uint32_t first = static_cast<std::uint32_t>(agent.checks.size());
  for (const char* name : {"source1.ready", "source2.live", "source2.ready"}) {
    agent.checks.push_back(agent.checks.front());
    agent.checks.back().name = name;
  }
  agent.gates = {{.name = "live", .failing = {}, .checks = {first + 1}},
                 {.name = "ready", .failing = {first}, .checks = {first, first + 2}}};
  judge::ReporterStanding one{.name = "source1",
                              .rule = {.live = false},
                              .report = {.ready = true},
                              .timeout = std::chrono::milliseconds(300),
                              .overridden = true,
                              .timed_out = true};
  const judge::ReporterStanding two{.name = "source2",
                                    .report = {.ready = true, .detail = "but very busy!"}};
  const HttpResponse late = get(agent, "/readiness", {}, Role::kViewer, {one, two});
  EXPECT_EQ(late.status, 503);
  EXPECT_TRUE(
      late.body.contains("| source1   | 300ms (override) | -              | timed out       |"))
      << late.body;
  EXPECT_TRUE(late.body.contains(
      "| source2   | -                | reporting live | reporting ready | but very busy! |"))
      << late.body;
  EXPECT_FALSE(late.body.contains("source2.live")) << late.body;
  EXPECT_FALSE(get(agent, "/readiness", {}, Role::kNone, {one, two}).body.contains("busy"))
      << "whether, not why";
  EXPECT_EQ(get(agent, "/liveness", {}, Role::kViewer, {one, two}).status, 200);

  agent.gates[1].failing = {};
  one.timed_out = false;
  one.overridden = false;
  for (const auto& [timeout, shown] :
       {std::pair{Duration(std::chrono::milliseconds(100)), "| 100ms "},
        {Duration(std::chrono::seconds(90)), "| 1m30s "},
        {Duration(std::chrono::milliseconds(1500)), "| 1.5s "},
        {Duration(std::chrono::hours(1)), "| 1h0m0s "}}) {
    one.timeout = timeout;
    const HttpResponse well = get(agent, "/readiness", {}, Role::kViewer, {one, two});
    EXPECT_EQ(well.status, 200);
    EXPECT_TRUE(well.body.contains(shown)) << well.body;
    EXPECT_TRUE(well.body.contains("| reporting ready |")) << well.body;
  }
}

// The tables are those of libcalico-go's own HealthAggregator, run with the same reports.
TEST(HealthTable, IsDrawnAsByCalico) {
  EXPECT_EQ(draw_health_table({}),
            "+-----------+---------+----------+-----------+--------+\n"
            "| COMPONENT | TIMEOUT | LIVENESS | READINESS | DETAIL |\n"
            "+-----------+---------+----------+-----------+--------+\n"
            "+-----------+---------+----------+-----------+--------+");
  EXPECT_EQ(draw_health_table({{.component = "r1",
                                .liveness = "reporting live",
                                .readiness = "reporting non-ready",
                                .detail = ""}}),
            "+-----------+---------+----------------+---------------------+--------+\n"
            "| COMPONENT | TIMEOUT | LIVENESS       | READINESS           | DETAIL |\n"
            "+-----------+---------+----------------+---------------------+--------+\n"
            "| r1        | -       | reporting live | reporting non-ready |        |\n"
            "+-----------+---------+----------------+---------------------+--------+");
}

TEST(HealthTable, ADetailOfTwoLinesHasTwoRowsAndNoControlCharacters) {
  const std::string table = draw_health_table(
      {{.component = "r2", .timeout = "300ms", .detail = "b"},
       {.component = "r1", .liveness = "timed out", .detail = "line1\nline2 \x1b[31m é"}});
  EXPECT_EQ(table,
            "+-----------+---------+-----------+-----------+------------------+\n"
            "| COMPONENT | TIMEOUT | LIVENESS  | READINESS | DETAIL           |\n"
            "+-----------+---------+-----------+-----------+------------------+\n"
            "| r1        | -       | timed out | -         | line1            |\n"
            "|           |         |           |           | line2 \\x1b[31m é |\n"
            "| r2        | 300ms   | -         | -         | b                |\n"
            "+-----------+---------+-----------+-----------+------------------+");
}

}  // namespace
}  // namespace wardmote::serve
