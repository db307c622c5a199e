#include <gtest/gtest.h>

#include <chrono>

#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/ping.h"

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

GrpcFacts says(Serving serving) {
  GrpcFacts facts;
  facts.serving = serving;
  return facts;
}

GrpcFacts fails_with(std::int64_t status) {
  GrpcFacts facts;
  facts.status = status;
  return facts;
}

TEST(Grpc, WhatAServerSaysOfItself) {
  EXPECT_EQ(judge_grpc(says(Serving::kServing)), Judgement());
  EXPECT_EQ(judge_grpc(says(Serving::kNotServing)).outcome, Outcome::kFail);
  EXPECT_EQ(judge_grpc(says(Serving::kNoService)).outcome, Outcome::kFail);
  EXPECT_EQ(judge_grpc(says(Serving::kUnknown)).outcome, Outcome::kUnknown);
}

TEST(Grpc, ErrorsThatAreAnAnswerAndErrorsThatAreNone) {
  EXPECT_EQ(judge_grpc(fails_with(5)).outcome, Outcome::kFail) << "no such service";
  EXPECT_EQ(judge_grpc(fails_with(14)).outcome, Outcome::kFail) << "UNAVAILABLE";
  const Judgement none = judge_grpc(fails_with(12));
  EXPECT_EQ(none.outcome, Outcome::kUnknown);
  EXPECT_EQ(none.reason.text, "it does not have the health service (UNIMPLEMENTED)");
  EXPECT_EQ(judge_grpc(fails_with(16)).reason.code, ReasonCode::kDenied);
  EXPECT_EQ(judge_grpc(fails_with(-7)).outcome, Outcome::kUnknown);
  GrpcFacts silent;
  EXPECT_EQ(judge_grpc(silent).outcome, Outcome::kUnknown) << "OK, and nothing behind it";
}

DnsFacts answered() {
  DnsFacts facts;
  facts.name = "api.example";
  facts.type = "A";
  facts.rcode = "NOERROR";
  facts.answers = {"10.0.0.1", "10.0.0.2"};
  facts.least_ttl = 60;
  return facts;
}

TEST(Dns, AnswersThatAreExpected) {
  DnsPolicy policy;
  EXPECT_EQ(judge_dns(answered(), policy), Judgement());
  policy.expect = {"10.0.0.1"};
  EXPECT_EQ(judge_dns(answered(), policy).outcome, Outcome::kOk);
  policy.only_expected = true;
  EXPECT_EQ(judge_dns(answered(), policy).reason.text, "api.example A: 10.0.0.2 is not expected");
  policy.expect = {"10.0.0.9"};
  EXPECT_EQ(judge_dns(answered(), policy).reason.text,
            "api.example A: 10.0.0.9 is not among the answers 10.0.0.1, 10.0.0.2");
  policy = {};
  policy.min_answers = 3;
  EXPECT_EQ(judge_dns(answered(), policy).outcome, Outcome::kFail);
  policy = {};
  policy.min_ttl = 61;
  EXPECT_EQ(judge_dns(answered(), policy).outcome, Outcome::kWarn);
}

TEST(Dns, OtherCodes) {
  DnsFacts facts = answered();
  facts.answers.clear();
  EXPECT_EQ(judge_dns(facts, {}).outcome, Outcome::kFail) << "a name without addresses";
  facts.rcode = "NXDOMAIN";
  EXPECT_EQ(judge_dns(facts, {}).outcome, Outcome::kFail);
  facts.rcode = "SERVFAIL";
  EXPECT_EQ(judge_dns(facts, {}).outcome, Outcome::kFail);
  facts.rcode = "REFUSED";
  EXPECT_EQ(judge_dns(facts, {}).outcome, Outcome::kUnknown) << "it does not want to tell us";
  DnsPolicy gone;
  gone.rcode = "NXDOMAIN";
  EXPECT_EQ(judge_dns(answered(), gone).outcome, Outcome::kFail);
  facts.rcode = "NXDOMAIN";
  EXPECT_EQ(judge_dns(facts, gone), Judgement());
}

TEST(Ping, AnswersAndLosses) {
  PingFacts facts;
  facts.address = "10.0.0.1";
  facts.sent = 3;
  EXPECT_EQ(judge_ping(facts, {}).reason.code, ReasonCode::kUnreachable);
  facts.received = 2;
  facts.mean = 4ms;
  EXPECT_EQ(judge_ping(facts, {}).reason.text, "10.0.0.1: 1 of 3 requests without an answer");
  PingPolicy policy;
  policy.warn_lost = 2;
  EXPECT_EQ(judge_ping(facts, policy), Judgement());
  policy.warn_lost = 0;
  EXPECT_EQ(judge_ping(facts, policy), Judgement()) << "never";
  policy.warn_mean = 3ms;
  EXPECT_EQ(judge_ping(facts, policy).outcome, Outcome::kWarn);
  policy.fail_mean = 3ms;
  EXPECT_EQ(judge_ping(facts, policy).outcome, Outcome::kFail);
}

}  // namespace
}  // namespace wardmote::judge
