#include "observe/tls_probe.h"

#include <gtest/gtest.h>

#include <chrono>

#include "net/asio_runtime.h"
#include "observe/ovn/ovn_probe.h"

namespace wardmote::observe {
namespace {

using judge::Outcome;
using judge::ReasonCode;
using judge::TlsFacts;
using namespace std::chrono_literals;

constexpr TlsPolicy kPolicy{.verify = true, .warn_before = 14 * 24h, .fail_before = 2 * 24h};

TlsFacts good_for(Duration left) {
  TlsFacts facts;
  facts.version = "TLSv1.3";
  facts.subject = facts.first_to_expire = "CN=ctl-1";
  facts.trusted = true;
  facts.left = left;
  facts.not_after = WallTime(20'000 * 24h) + left;
  return facts;
}

TEST(TlsProbe, WarnsBeforeACertificateRunsOutAndFailsWhenItHas) {
  EXPECT_EQ(meaning_of(good_for(15 * 24h), kPolicy).outcome, Outcome::kOk);
  const TlsMeaning soon = meaning_of(good_for(14 * 24h), kPolicy);
  EXPECT_EQ(soon.outcome, Outcome::kWarn);
  EXPECT_EQ(soon.reason.code, ReasonCode::kState);
  EXPECT_EQ(soon.reason.text,
            "certificate 'CN=ctl-1' runs out in 14 days, on 2024-10-18T00:00:00.000Z");
  EXPECT_EQ(meaning_of(good_for(2 * 24h), kPolicy).outcome, Outcome::kFail);
  const TlsMeaning over = meaning_of(good_for(0s), kPolicy);
  EXPECT_EQ(over.outcome, Outcome::kFail);
  EXPECT_EQ(over.reason.code, ReasonCode::kExpired);
}

TEST(TlsProbe, DistrustCountsUnlessNobodyVerifies) {
  TlsFacts facts = good_for(100 * 24h);
  facts.trusted = false;
  facts.distrust = "certificate 'CN=ctl-1' is for dns:b, not for 'a'";
  const TlsMeaning meaning = meaning_of(facts, kPolicy);
  EXPECT_EQ(meaning.outcome, Outcome::kFail);
  EXPECT_EQ(meaning.reason.code, ReasonCode::kUntrusted);
  EXPECT_EQ(meaning.reason.text, facts.distrust);
  TlsPolicy lenient = kPolicy;
  lenient.verify = false;
  EXPECT_EQ(meaning_of(facts, lenient).outcome, Outcome::kOk);
  facts.left = -1s;
  EXPECT_EQ(meaning_of(facts, lenient).outcome, Outcome::kFail) << "nobody accepts that one";
  EXPECT_EQ(meaning_of(TlsFacts(), lenient).outcome, Outcome::kFail) << "none was shown";
}

TEST(TlsProbe, RefusesParametersThatDoNotGoTogether) {
  net::AsioRuntime runtime;
  const auto error = [&](Params params) {
    params.emplace("address", "tcp:10.0.0.1:6641");
    const auto probe = make_tls_probe(runtime, "cert", params);
    return probe ? "" : probe.error().context;
  };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({{"verify", "none"}, {"warn_days", std::int64_t{30}}}), "");
  EXPECT_EQ(error({{"verify", "maybe"}}), "verify: 'maybe' is none of name, chain, none");
  EXPECT_EQ(error({{"fail_days", std::int64_t{15}}}), "fail_days: 15 is more than warn_days (14)");
  EXPECT_EQ(error({{"tls_ca", "ca.pem"}}), "tls_ca: 'ca.pem' is no absolute path");
  EXPECT_EQ(error({{"tls_key", "/k.pem"}}),
            "tls_certificate and tls_key go together: give both or neither");
}

TEST(OvnProbeTls, NeedsAnAuthorityForSslAndTakesNoneElsewhere) {
  net::AsioRuntime runtime;
  const auto error = [&](const Params& params) {
    const auto probe = ovn::make_ovn_probe(runtime, "nb", params);
    return probe ? "" : probe.error().context;
  };
  EXPECT_EQ(error({{"ovsdb", "ssl:10.0.0.1:6641"}, {"tls_ca", "/ca.pem"}}), "");
  EXPECT_EQ(error({{"ovsdb", "ssl:10.0.0.1:6641"}}),
            "ovsdb: give tls_ca: an ssl: address needs an authority to believe");
  EXPECT_EQ(error({{"ovsdb", "tcp:10.0.0.1:6641"}, {"tls_ca", "/ca.pem"}}),
            "ovsdb: tls_ca and its like are for ssl: addresses only");
  EXPECT_NE(error({{"control", "/run/ovn/ovnnb_db.ctl"}, {"tls_ca", "/ca.pem"}}), "");
}

}  // namespace
}  // namespace wardmote::observe
