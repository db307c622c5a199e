#include "observe/endpoint/http_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "observe/host/exec_probe.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_web.h"

namespace wardmote::sim {
namespace {

using judge::HttpFacts;
using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using observe::Params;
using observe::Probe;
using namespace std::chrono_literals;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup";
const std::string kBad = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbad";

class Web {
 public:
  explicit Web(World& world, std::string answer = kOk)
      : sim(world),
        server(
            host, [this](auto name, auto task) { host.spawn(std::move(name), std::move(task)); },
            runtime::Endpoint::tcp("web", 80)) {
    server.answers = {std::move(answer)};
  }

  Observation look(Params params = {}) {
    const std::unique_ptr<Probe> probe = make(std::move(params));
    return look(*probe);
  }
  Observation look(Probe& probe) { return run_task(sim, us, probe.look(us.deadline_in(1s))); }
  std::unique_ptr<Probe> make(Params params) {
    params.try_emplace("url", "http://web/readiness");
    auto probe = observe::make_http_probe(us, "felix", params);
    check(probe.has_value(), probe ? "" : probe.error().describe());
    return *std::move(probe);
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("web");
  testing::FakeWeb server;
  Curfew curfew{host};
};

const HttpFacts& facts(const Observation& seen) {
  return std::get<HttpFacts>(seen.facts);
}

SIM_TEST(HttpProbe, ReadsTheStatus) {
  Web web(sim);
  const Observation good = web.look();
  EXPECT_EQ(good.outcome, Outcome::kOk) << good.reason.text;
  EXPECT_EQ(facts(good).status, 200);
  EXPECT_TRUE(web.server.requests().at(0).starts_with("GET /readiness HTTP/1.1\r\nHost: web\r\n"));
  web.server.answers = {kBad};
  const Observation bad = web.look();
  EXPECT_EQ(bad.outcome, Outcome::kFail);
  EXPECT_EQ(bad.reason.text, "status 503: bad");
}

SIM_TEST_SEEDS(HttpProbe, ReadsTheBodyWhenAskedTo, 1) {
  Web web(sim);
  EXPECT_EQ(web.look({{"body", "up"}}).outcome, Outcome::kOk);
  EXPECT_EQ(web.look({{"body", "down"}}).outcome, Outcome::kFail);
  web.server.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"};
  EXPECT_EQ(web.look({{"body", "whole"}}).outcome, Outcome::kUnknown) << "cut short";
  EXPECT_EQ(web.look({{"body", "half"}}).outcome, Outcome::kUnknown) << "cut, whatever is in it";
  web.server.answers = {"HTTP/1.1 200 OK\r\n\r\nhalf" + std::string(70'000, 'x')};
  EXPECT_EQ(web.look({{"body", "half"}}).outcome, Outcome::kOk) << "64 KiB are all that counts";
}

/// The text has come, but the answer has no end.
SIM_TEST_SEEDS(HttpProbe, EndlessTrailersAreCutOff, 1) {
  std::string flood = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n";
  for (int i = 0; i < 10'000; ++i) flood += "A: b\r\n";
  Web web(sim, flood);
  web.server.endless = true;
  web.server.pause = 1ms;
  const Observation seen = web.look({{"body", "up"}});
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.code, ReasonCode::kOverLimit) << seen.reason.text;
  EXPECT_LT(seen.ended - seen.begun, 100ms);
  EXPECT_LT(seen.cost.bytes_in, 32U << 10);
  const Observation kept = web.look({{"keep_open", true}});
  EXPECT_EQ(kept.outcome, Outcome::kOk) << "the status decides";
  EXPECT_LT(kept.cost.bytes_in, 32U << 10);
}

SIM_TEST_SEEDS(HttpProbe, RedirectsStayOnTheHost, 1) {
  Web web(sim);
  const auto redirect = [](std::string_view to) {
    return fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", to);
  };
  web.server.answers = {redirect("/other"), kOk};
  const Observation followed = web.look();
  EXPECT_EQ(followed.outcome, Outcome::kOk);
  EXPECT_EQ(facts(followed).url, "http://web:80/other");
  EXPECT_EQ(facts(followed).redirects, 1U);
  for (const std::string_view away :
       {"http://elsewhere/", "https://web/", "//elsewhere/x", "ftp://web/"}) {
    web.server.answers = {redirect(away)};
    const Observation seen = web.look();
    EXPECT_EQ(seen.outcome, Outcome::kFail) << away;
  }
  web.server.answers = {redirect("/loop")};
  EXPECT_TRUE(web.look().reason.text.contains("stopped after 5 redirects"));
  EXPECT_EQ(web.look({{"redirects", std::int64_t{0}}}).outcome, Outcome::kOk) << "302 is good";
  web.server.answers = {"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"};
  EXPECT_EQ(web.look().outcome, Outcome::kOk) << "it leads nowhere, and 302 is good";
}

SIM_TEST(HttpProbe, AKeptConnectionIsUsedAgainAndNowAndThenANewOne) {
  Web web(sim);
  web.server.closes = false;
  const auto probe = web.make({{"keep_open", true}, {"fresh_every", std::int64_t{4}}});
  for (int i = 0; i < 8; ++i) {
    const Observation seen = web.look(*probe);
    EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
    EXPECT_EQ(facts(seen).kept, i % 4 != 0) << i;
    EXPECT_EQ(seen.cost.fresh_connection, i % 4 == 0);
  }
  EXPECT_EQ(web.server.connections(), 2);
  web.look(*probe);
  // The server closes idle connections: that is no failure of the server.
  web.server.hang_up();
  sim.run_for(1s);
  const Observation anew = web.look(*probe);
  EXPECT_EQ(anew.outcome, Outcome::kOk) << anew.reason.text;
  EXPECT_TRUE(anew.cost.fresh_connection);
}

SIM_TEST(HttpProbe, OneDeadlineForEverything) {
  Web web(sim, "HTTP/1.1 200 OK\r\nX: " + std::string(1000, 'y'));
  web.server.step = 1;
  web.server.pause = 200ms;
  const Observation slow = web.look();
  EXPECT_EQ(slow.outcome, Outcome::kFail);
  EXPECT_EQ(slow.reason.code, ReasonCode::kHung);
  EXPECT_EQ(slow.ended - slow.begun, 1s);
  EXPECT_TRUE(slow.reason.text.contains("bytes of a header")) << slow.reason.text;

  sim.host("us");
  web.host.pause();
  const Observation stopped = web.look();
  EXPECT_EQ(stopped.reason.code, ReasonCode::kHung) << "its kernel accepts, it does not answer";
  EXPECT_EQ(stopped.ended - stopped.begun, 1s);
  web.host.resume();
}

SIM_TEST_SEEDS(HttpProbe, AnEndlessBodyDoesNotDelayTheVerdict, 1) {
  Web web(sim, "HTTP/1.1 200 OK\r\n\r\n" + std::string(100, 'x'));
  web.server.endless = true;
  web.server.pause = 1ms;
  const Observation good = web.look();
  EXPECT_EQ(good.outcome, Outcome::kOk);
  EXPECT_LT(good.ended - good.begun, 50ms);
  web.server.answers = {"HTTP/1.1 503 No\r\n\r\n" + std::string(100, 'x')};
  const Observation bad = web.look();
  EXPECT_EQ(bad.outcome, Outcome::kFail);
  EXPECT_LT(bad.ended - bad.begun, 150ms);
}

SIM_TEST_SEEDS(HttpProbe, WhatIsNotHttpIsUnknown, 1) {
  Web web(sim);
  for (const std::string_view bytes :
       {"\x16\x03\x01garbage\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Le"}) {
    web.server.answers = {std::string(bytes)};
    EXPECT_EQ(web.look().outcome, Outcome::kUnknown) << bytes;
  }
  web.server.answers = {""};
  const Observation empty = web.look();
  EXPECT_EQ(empty.outcome, Outcome::kUnknown);
  EXPECT_EQ(empty.reason.code, ReasonCode::kClosed);
  EXPECT_EQ(web.look({{"url", "http://web:81/"}}).reason.code, ReasonCode::kRefused);
}

SIM_TEST_SEEDS(HttpProbe, ParametersThatMakeNoSense, 1) {
  SimRuntime& us = sim.host("us");
  const auto make = [&](Params params) {
    params.try_emplace("url", "http://web/");
    return observe::make_http_probe(us, "x", params).has_value();
  };
  using List = std::vector<std::string>;
  EXPECT_TRUE(make({{"status", List{"200", "301-302"}}, {"header", List{"Host: x"}}}));
  EXPECT_FALSE(make({{"url", "https://web/"}}));
  EXPECT_FALSE(make({{"url", "web"}}));
  EXPECT_FALSE(make({{"status", List{"2xx"}}}));
  EXPECT_FALSE(make({{"status", List{"300-200"}}}));
  EXPECT_FALSE(make({{"status", List{}}}));
  EXPECT_FALSE(make({{"header", List{"A: b\r\nC: d"}}}));
  EXPECT_FALSE(make({{"header", List{"Content-Length: 3"}}}));
  EXPECT_FALSE(make({{"head", true}, {"body", "x"}}));
  EXPECT_FALSE(make({{"redirects", std::int64_t{-1}}}));
  EXPECT_FALSE(make({{"fresh_every", std::int64_t{0}}}));
}

SIM_TEST_SEEDS(ExecProbe, APluginsExitCodeAndValues, 1) {
  SimRuntime& us = sim.host("us");
  SimRuntime::Performance performance{10ms,
                                      runtime::ProcessExit{0, "LOAD OK|load1=0.5;5;10\n", ""}};
  us.install("/check", [&](const runtime::ProcessSpec& spec) {
    EXPECT_EQ(spec.argv, (std::vector<std::string>{"/check", "-w", "5"}));
    return performance;
  });
  const auto probe = observe::make_exec_probe(
      us, "load", {{"program", "/check"}, {"args", std::vector<std::string>{"-w", "5"}}});
  const auto look = [&] { return run_task(sim, us, (*probe)->look(us.deadline_in(1s))); };
  const Observation good = look();
  EXPECT_EQ(good.outcome, Outcome::kOk);
  EXPECT_EQ(std::get<judge::ExecFacts>(good.facts).measured,
            (std::vector<judge::Measured>{{"load1", 0.5, ""}}));
  performance.ends = runtime::ProcessExit{2, "LOAD CRITICAL\n", ""};
  EXPECT_EQ(look().reason.text, "exit code 2: LOAD CRITICAL");
  performance.ends = runtime::ProcessExit{3, "", "check: no such option\n"};
  EXPECT_EQ(look().reason.text, "exit code 3: check: no such option");
  performance.ends = fail(Errc::kMissing, "run /check");
  EXPECT_EQ(look().outcome, Outcome::kUnknown) << "nobody looked at the load";
  performance = {2s, runtime::ProcessExit{}};
  EXPECT_EQ(look().reason.code, ReasonCode::kHung);
}

SIM_TEST_SEEDS(ExecProbe, TakesNoShellLines, 1) {
  SimRuntime& us = sim.host("us");
  EXPECT_FALSE(observe::make_exec_probe(us, "x", {{"program", "check_load -w 5"}}).has_value());
  EXPECT_FALSE(
      observe::make_exec_probe(us, "x", {{"program", "/check"}, {"style", "nagios"}}).has_value());
}

}  // namespace
}  // namespace wardmote::sim
