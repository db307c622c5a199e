#include "observe/tls_probe.h"

#include <gtest/gtest.h>

#include "net/asio_runtime.h"
#include "observe/endpoint/https_probe.h"
#include "observe/ovn/ovn_probe.h"

namespace wardmote::observe {
namespace {

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
  EXPECT_EQ(error({{"tls_ca", "ca.pem"}}), "tls_ca: 'ca.pem' is not an absolute path");
  EXPECT_EQ(error({{"tls_key", "/k.pem"}}),
            "tls_certificate and tls_key go together: give both or neither");
}

TEST(HttpsProbe, TakesUrlsWithTlsOnly) {
  net::AsioRuntime runtime;
  const auto error = [&](const Params& params) {
    const auto probe = make_https_probe(runtime, "api", params);
    return probe ? "" : probe.error().context;
  };
  EXPECT_EQ(error({{"url", "https://10.0.0.1:6443/livez"}, {"tls_ca", "/ca.pem"}}), "");
  EXPECT_EQ(error({{"url", "http://10.0.0.1/"}}),
            "url: http://10.0.0.1:80/ has no TLS, take the kind http");
  EXPECT_NE(error({{"url", "https://10.0.0.1/"}, {"verify", "no"}}), "");
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
