#include "judge/endpoint/tls.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

constexpr TlsPolicy kPolicy{.verify = true, .warn_before = 14 * 24h, .fail_before = 2 * 24h};

TlsFacts good_for(Duration left) {
  TlsFacts facts;
  facts.version = "TLSv1.3";
  facts.certificate = true;
  facts.subject = facts.first_to_expire = "CN=ctl-1";
  facts.trusted = true;
  facts.left = left;
  facts.not_after = WallTime(20'000 * 24h) + left;
  return facts;
}

TEST(JudgeTls, WarnsBeforeACertificateRunsOutAndFailsWhenItHas) {
  EXPECT_EQ(judge_tls(good_for(15 * 24h), kPolicy).outcome, Outcome::kOk);
  const Judgement soon = judge_tls(good_for(14 * 24h), kPolicy);
  EXPECT_EQ(soon.outcome, Outcome::kWarn);
  EXPECT_EQ(soon.reason.code, ReasonCode::kState);
  EXPECT_EQ(soon.reason.text,
            "certificate 'CN=ctl-1' runs out in 14 days, on 2024-10-18T00:00:00.000Z");
  EXPECT_EQ(judge_tls(good_for(2 * 24h), kPolicy).outcome, Outcome::kFail);
  const Judgement over = judge_tls(good_for(0s), kPolicy);
  EXPECT_EQ(over.outcome, Outcome::kFail);
  EXPECT_EQ(over.reason.code, ReasonCode::kExpired);
}

TEST(JudgeTls, DistrustCountsUnlessNobodyVerifies) {
  TlsFacts facts = good_for(100 * 24h);
  facts.trusted = false;
  facts.distrust = "certificate 'CN=ctl-1' is for dns:b, not for 'a'";
  const Judgement meaning = judge_tls(facts, kPolicy);
  EXPECT_EQ(meaning.outcome, Outcome::kFail);
  EXPECT_EQ(meaning.reason.code, ReasonCode::kUntrusted);
  EXPECT_EQ(meaning.reason.text, facts.distrust);
  TlsPolicy lenient = kPolicy;
  lenient.verify = false;
  EXPECT_EQ(judge_tls(facts, lenient).outcome, Outcome::kOk);
  facts.left = -1s;
  EXPECT_EQ(judge_tls(facts, lenient).outcome, Outcome::kFail) << "nobody accepts that one";
  EXPECT_EQ(judge_tls(TlsFacts(), lenient).outcome, Outcome::kFail) << "none was shown";
}

}  // namespace
}  // namespace wardmote::judge
