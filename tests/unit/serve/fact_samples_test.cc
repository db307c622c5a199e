#include "serve/metrics/fact_samples.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/bgp/facts.h"
#include "judge/observation.h"
#include "serve/bgp/mesh_view.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/measurement.h"
#include "serve/metrics/metrics.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using namespace std::chrono_literals;
using Lines = std::set<std::string>;

/// The samples of a check `c` that has seen these facts, without those of the check itself.
Lines exposed(const judge::Facts& facts) {
  AgentView view;
  view.families = {&kMeshFamily};
  CheckView& check = view.checks.emplace_back();
  check.name = "c";
  check.kind = "k";
  check.looks = 1;
  judge::Observation seen;
  seen.facts = facts;
  check.measured = measure(seen, view.families);
  Lines lines;
  const std::string text = expose_metrics(view);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const bool own = line.starts_with('#') || line.starts_with("wardmote_check_") ||
                     !line.contains("check=\"c\"");
    if (!own || line.starts_with("wardmote_check_connect")) lines.insert(std::move(line));
  }
  return lines;
}

TEST(FactSamples, SayNothingOfWhatNobodySaw) {
  EXPECT_EQ(measure(judge::Observation(), {}), nullptr);
  EXPECT_EQ(exposed(judge::FileFacts{.exists = false}), Lines{});
  EXPECT_EQ(exposed(judge::DnsFacts{.answers = {"10.0.0.1"}, .answer_time = 2ms}),
            (Lines{"wardmote_dns_answers{check=\"c\"} 1",
                   "wardmote_dns_answer_seconds{check=\"c\"} 0.002"}))
      << "no TTL";
}

TEST(FactSamples, AnHttpAnswerHasStatusAndTimes) {
  judge::HttpFacts facts;
  facts.status = 503;
  facts.first_byte = 250ms;
  facts.connect_time = 50ms;
  EXPECT_EQ(exposed(facts), (Lines{"wardmote_http_status_code{check=\"c\"} 503",
                                   "wardmote_http_first_byte_seconds{check=\"c\"} 0.25",
                                   "wardmote_http_redirects{check=\"c\"} 0",
                                   "wardmote_check_connect_seconds{check=\"c\"} 0.05"}));
  facts.kept = true;
  EXPECT_FALSE(exposed(facts).contains("wardmote_check_connect_seconds{check=\"c\"} 0.05"));
}

TEST(FactSamples, ACertificateHasItsExpiry) {
  judge::TlsFacts facts;
  facts.handshake_time = 10ms;
  EXPECT_EQ(exposed(facts), Lines{"wardmote_tls_handshake_seconds{check=\"c\"} 0.01"});
  facts.certificate = true;
  facts.not_after = WallTime(1'800'000'000s);
  EXPECT_TRUE(exposed(facts).contains(
      "wardmote_tls_certificate_expiry_timestamp_seconds{check=\"c\"} 1800000000"));
  EXPECT_TRUE(exposed(facts).contains("wardmote_tls_trusted{check=\"c\"} 0"));
}

TEST(FactSamples, PerformanceDataIsInBaseUnits) {
  judge::ExecFacts facts;
  facts.exit_code = 1;
  facts.measured = {{"time", 1500, "ms"}, {"size", 2, "KB"}, {"used", 25, "%"},
                    {"hits", 7, "c"},     {"load", 0.5, ""}, {"odd", 3, "furlongs"}};
  EXPECT_EQ(exposed(facts),
            (Lines{"wardmote_exec_exit_code{check=\"c\"} 1",
                   "wardmote_exec_perfdata{check=\"c\",label=\"time\",unit=\"seconds\"} 1.5",
                   "wardmote_exec_perfdata{check=\"c\",label=\"size\",unit=\"bytes\"} 2048",
                   "wardmote_exec_perfdata{check=\"c\",label=\"used\",unit=\"ratio\"} 0.25",
                   "wardmote_exec_perfdata{check=\"c\",label=\"hits\",unit=\"\"} 7",
                   "wardmote_exec_perfdata{check=\"c\",label=\"load\",unit=\"\"} 0.5",
                   "wardmote_exec_perfdata{check=\"c\",label=\"odd\",unit=\"furlongs\"} 3"}));
}

TEST(FactSamples, APingHasRoundTripsAndLoss) {
  judge::PingFacts facts;
  facts.sent = 4;
  facts.received = 3;
  facts.least = 1ms;
  facts.mean = 2ms;
  facts.most = 3ms;
  EXPECT_EQ(exposed(facts),
            (Lines{"wardmote_ping_rtt_seconds{check=\"c\",statistic=\"min\"} 0.001",
                   "wardmote_ping_rtt_seconds{check=\"c\",statistic=\"mean\"} 0.002",
                   "wardmote_ping_rtt_seconds{check=\"c\",statistic=\"max\"} 0.003",
                   "wardmote_ping_loss_ratio{check=\"c\"} 0.25"}));
  EXPECT_EQ(exposed(judge::PingFacts{.sent = 2}), Lines{"wardmote_ping_loss_ratio{check=\"c\"} 1"});
}

TEST(FactSamples, EachBgpSessionHasStateUptimeRoutesAndFlaps) {
  judge::bgp::BgpFacts facts;
  judge::bgp::Session up;
  up.name = "Mesh_1";
  up.address = "10.0.0.1";
  up.state = judge::bgp::SessionState::kEstablished;
  up.in_state = 90s;
  up.routes = judge::bgp::Routes{.imported = 5, .exported = 2};
  up.flaps = 3;
  judge::bgp::Session down;
  down.name = "Mesh_2";
  down.address = "10.0.0.2";
  down.state = judge::bgp::SessionState::kActive;
  down.drops = 8;  // the daemon counts itself
  down.flaps = 1;
  facts.sessions = {up, down};
  const std::string first = R"({check="c",session="Mesh_1",neighbor="10.0.0.1")";
  const std::string second = R"({check="c",session="Mesh_2",neighbor="10.0.0.2")";
  EXPECT_EQ(exposed(facts),
            (Lines{"wardmote_bgp_session_up" + first + "} 1",
                   "wardmote_bgp_session_state" + first + ",state=\"Established\"} 1",
                   "wardmote_bgp_session_state_seconds" + first + "} 90",
                   "wardmote_bgp_session_routes" + first + ",direction=\"imported\"} 5",
                   "wardmote_bgp_session_routes" + first + ",direction=\"exported\"} 2",
                   "wardmote_bgp_session_flaps_total" + first + "} 3",
                   "wardmote_bgp_session_up" + second + "} 0",
                   "wardmote_bgp_session_state" + second + ",state=\"Active\"} 1",
                   "wardmote_bgp_session_flaps_total" + second + "} 8"}));
  facts.sessions.assign(300, up);
  judge::Observation seen;
  seen.facts = facts;
  const Family* const families[] = {&kMeshFamily};
  EXPECT_LE(measure(seen, families)->size(), 256U * 6);
}

TEST(FactSamples, AServiceHasItsRestarts) {
  judge::ServiceFacts facts;
  facts.state = judge::ServiceFacts::State::kRun;
  facts.in_state = 5s;
  facts.restarts = 2;
  EXPECT_EQ(exposed(facts), (Lines{"wardmote_service_running{check=\"c\"} 1",
                                   "wardmote_service_restarts{check=\"c\"} 2",
                                   "wardmote_service_state_seconds{check=\"c\"} 5"}));
  judge::SystemdFacts unit;
  unit.active_state = "failed";
  unit.recent_restarts = 4;
  EXPECT_TRUE(exposed(unit).contains("wardmote_service_running{check=\"c\"} 0"));
  EXPECT_TRUE(exposed(unit).contains("wardmote_service_restarts{check=\"c\"} 4"));
}

}  // namespace
}  // namespace wardmote::serve
