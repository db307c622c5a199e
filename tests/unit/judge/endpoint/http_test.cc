#include "judge/endpoint/http.h"

#include <gtest/gtest.h>

#include "judge/host/exec.h"

namespace wardmote::judge {
namespace {

HttpFacts answered(int status, std::string body = {}) {
  HttpFacts facts;
  facts.status = status;
  facts.body = std::move(body);
  return facts;
}

TEST(Http, TheStatusDecides) {
  for (const int good : {200, 204, 302, 304, 399})
    EXPECT_EQ(judge_http(answered(good), {}).outcome, Outcome::kOk) << good;
  for (const int bad : {99, 101, 199, 400, 500, 503, 999})
    EXPECT_EQ(judge_http(answered(bad), {}).outcome, Outcome::kFail) << bad;
  const HttpPolicy narrow{.statuses = {{200, 200}, {301, 302}}};
  EXPECT_EQ(judge_http(answered(301), narrow).outcome, Outcome::kOk);
  EXPECT_EQ(judge_http(answered(204), narrow).outcome, Outcome::kFail);
}

TEST(Http, TheBodySaysWhoIsToBlame) {
  // As Felix prints its health.
  const std::string table =
      "+-----------+---------+----------------+-----------------+\n"
      "| COMPONENT | TIMEOUT | LIVENESS       | READINESS       |\n"
      "+-----------+---------+----------------+-----------------+\n"
      "| r1        | -       | reporting live | reporting ready |\n"
      "| r2        | 300ms   | timed out      | -               |\n";
  EXPECT_EQ(judge_http(answered(503, table), {}).reason.text, "status 503: r2 300ms timed out -");
  EXPECT_EQ(judge_http(answered(500, "[+]ping ok\n[-]etcd failed\n"), {}).reason.text,
            "status 500: [-]etcd failed");
  EXPECT_EQ(judge_http(answered(500, "\n Out of memory\nmore"), {}).reason.text,
            "status 500: Out of memory");
  EXPECT_EQ(judge_http(answered(500), {}).reason.text, "status 500");
}

TEST(Http, ABodyThatWasAskedForMustMatch) {
  HttpFacts facts = answered(200);
  facts.body_matches = false;
  EXPECT_EQ(judge_http(facts, {.body = "up"}).outcome, Outcome::kFail);
  facts.body_matches = true;
  EXPECT_EQ(judge_http(facts, {.body = "up"}).outcome, Outcome::kOk);
}

TEST(Http, ARedirectAwayIsNoGoodAnswer) {
  HttpFacts facts = answered(302);
  facts.refused_redirect = "http://elsewhere/login";
  EXPECT_EQ(judge_http(facts, {}).outcome, Outcome::kFail);
}

Outcome outcome(int code, std::string_view style) {
  ExecFacts facts;
  facts.exit_code = code;
  return judge_exec(facts, *exit_style_of(style)).outcome;
}

TEST(Exec, WhatACodeMeansDependsOnTheStyle) {
  using enum Outcome;
  for (const std::string_view style : {"plugin", "script", "consul", "npd"}) {
    EXPECT_EQ(outcome(0, style), kOk);
    EXPECT_EQ(outcome(137, style), kUnknown) << "somebody killed it";
  }
  EXPECT_EQ(outcome(1, "plugin"), kWarn);
  EXPECT_EQ(outcome(2, "plugin"), kFail);
  EXPECT_EQ(outcome(3, "plugin"), kUnknown);
  EXPECT_EQ(outcome(77, "plugin"), kUnknown);
  EXPECT_EQ(outcome(1, "script"), kFail);
  EXPECT_EQ(outcome(77, "script"), kFail);
  EXPECT_EQ(outcome(1, "consul"), kWarn);
  EXPECT_EQ(outcome(3, "consul"), kFail);
  EXPECT_EQ(outcome(1, "npd"), kFail);
  EXPECT_EQ(outcome(2, "npd"), kUnknown);
  EXPECT_FALSE(exit_style_of("nagios").has_value());
}

}  // namespace
}  // namespace wardmote::judge
