#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "sim/calico_node.h"

namespace wardmote::sim {
namespace {

/// Answers of Felix, and what Go's client was seen to make of them.
struct FelixRow {
  std::string_view name;
  std::string answer;
  bool good;
  std::string_view says;
};

SIM_TEST_SEEDS(CalicoFelix, FelixAnswersAreTakenAsGoTakesThem, 1) {
  for (const FelixRow& row : std::vector<FelixRow>{
           {"200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true, ""},
           {"204", "HTTP/1.1 204 No Content\r\n\r\n", true, ""},
           {"304", "HTTP/1.1 304 Not Modified\r\n\r\n", true, ""},
           {"399", "HTTP/1.1 399 x\r\n\r\n", true, ""},
           {"400", "HTTP/1.1 400 Bad Request\r\n\r\n", false, "readiness probe reporting 400"},
           {"503", "HTTP/1.1 503 Service Unavailable\r\n\r\n", false,
            "readiness probe reporting 503"},
           {"999", "HTTP/1.1 999 x\r\n\r\n", false, "readiness probe reporting 999"},
           {"099", "HTTP/1.1 099 x\r\n\r\n", false, "readiness probe reporting 99"},
           {"redir_noloc", "HTTP/1.1 302 Found\r\n\r\n", true, ""},
           {"redir_loop", "HTTP/1.1 302 Found\r\nLocation: /readiness\r\n\r\n", false,
            "stopped after 10 redirects"},
           {"chunked_forever",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", true, ""},
           {"garbage", "\x16\x03\x01garbage", false, "malformed HTTP response"},
           {"http09", "<html>", false, "malformed HTTP response"},
           {"ssh", "SSH-2.0-OpenSSH\r\n", false, "malformed HTTP response"},
           {"empty", "", false, "EOF"},
           {"100flood",
            [] {
              std::string flood;
              for (int i = 0; i < 9; ++i) flood += "HTTP/1.1 100 Continue\r\n\r\n";
              return flood;
            }(),
            false, "too many 1xx informational responses"},
           {"100once", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", true, ""},
           {"partial", "HTTP/1.1 200 OK\r\nContent-Le", false, "unexpected EOF"},
           {"no_colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", false, "missing colon"},
           {"twocl", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", false,
            "multiple Content-Length"},
           {"coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n", false,
            "Get \"http://node-1:9099/readiness\": net/http: HTTP/1.x transport connection broken: "
            "unsupported transfer encoding: \"foo\""},
           {"http10", "HTTP/1.0 200 OK\r\n\r\n", true, ""},
           {"lf_only", "HTTP/1.1 200 OK\nA: b\n\n", true, ""},
           {"noreason", "HTTP/1.1 200\r\n\r\n", true, ""},
       }) {
    for (const Release release : {Release::kOwn, Release::kHead}) {
      CalicoNode node(sim);
      node.answer_http(row.answer);
      const HealthResult result = node.run(release, Check::kFelixReady);
      EXPECT_EQ(result.verdict == Verdict::kGood, row.good) << row.name << ": " << result.text;
      if (release == Release::kHead)
        EXPECT_TRUE(result.text.contains(row.says)) << row.name << ": " << result.text;
      if (!row.good)
        EXPECT_TRUE(result.text.starts_with("calico/node is not ready: felix is not ready: "))
            << result.text;
    }
  }
}

SIM_TEST_SEEDS(CalicoFelix, FelixSilentSlowAndAbsent, 2) {
  CalicoNode node(sim);
  node.answer_http("HTTP/1.1 2", false);
  EXPECT_EQ(node.run(Release::kHead, Check::kFelixLive).text,
            "calico/node is not ready: Felix is not live: Get \"http://node-1:9099/liveness\": "
            "context deadline exceeded");
  EXPECT_LE(node.took, 3050ms);
  node.plan.felix.port = "9098";
  EXPECT_EQ(node.run(Release::kHead, Check::kFelixLive).text,
            "calico/node is not ready: Felix is not live: Get \"http://node-1:9098/liveness\": "
            "dial tcp node-1:9098: connect: connection refused");
}

SIM_TEST_SEEDS(CalicoFelix, FelixHeadersHaveACapThatGosIsMuchHigherThan, 1) {
  const std::string huge = "HTTP/1.1 200 OK\r\nA: " + std::string(2 << 20, 'x') + "\r\n\r\n";
  CalicoNode node(sim);
  node.answer_http(huge);
  EXPECT_EQ(node.run(Release::kHead, Check::kFelixReady).verdict, Verdict::kGood);
  EXPECT_EQ(node.run(Release::kOwn, Check::kFelixReady).verdict, Verdict::kBad);
}

SIM_TEST_SEEDS(CalicoFelix, FelixMayNotSendUsElsewhere, 1) {
  CalicoNode node(sim);
  node.answer_http("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.9/x\r\n\r\n");
  const HealthResult own = node.run(Release::kOwn, Check::kFelixReady);
  EXPECT_TRUE(own.text.contains("another host")) << own.text;
}

SIM_TEST_SEEDS(CalicoFelix, FelixPortsThatAreNoneFailThisCheckOnly, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp));
  for (const char* port : {"abc", "0", "-1", "65536", " 9099"}) {
    node.plan.felix.port = port;
    for (const Release release : kAll)
      EXPECT_NE(node.run(release, Check::kFelixReady).verdict, Verdict::kGood) << port;
    EXPECT_EQ(node.run(Release::kOwn, Check::kBirdReady).verdict, Verdict::kGood);
  }
}

SIM_TEST_SEEDS(CalicoFelix, FelixOverIpv6WithAndWithoutBrackets, 1) {
  for (const char* host : {"::1", "[::1]"}) {
    CalicoNode node(sim);
    node.answer_http("HTTP/1.1 200 OK\r\n\r\n", true, Endpoint::tcp("::1", 9099));
    node.plan.felix.host = host;
    EXPECT_EQ(node.run(Release::kOwn, Check::kFelixReady).verdict, Verdict::kGood) << host;
  }
}

/// Go takes these; the strict reader refuses what no server of today sends.
SIM_TEST_SEEDS(CalicoFelix, FelixAnswersThatOnlyGoTakes, 1) {
  for (const char* answer :
       {"HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n"}) {
    CalicoNode node(sim);
    node.answer_http(answer);
    EXPECT_EQ(node.run(Release::kHead, Check::kFelixReady).verdict, Verdict::kGood) << answer;
    EXPECT_EQ(node.run(Release::kOwn, Check::kFelixReady).verdict, Verdict::kBad) << answer;
  }
}

/// context.WithTimeout(threshold) is over before it begins; BIRD is asked all the same.
SIM_TEST_SEEDS(CalicoFelix, AThresholdOfNothingEndsFelixAndNotBird, 1) {
  for (const Duration threshold : {Duration(0s), Duration(-1s), Duration(5us)}) {
    for (const Release release : kAll) {
      CalicoNode node(sim);
      node.plan.threshold = threshold;
      node.nodename_age(1s);
      node.serve(bird_with(kOneUp));
      node.answer_http("HTTP/1.1 200 OK\r\n\r\n");
      EXPECT_EQ(node.run(release).verdict, Verdict::kGood) << "the window is over";
      const HealthResult felix = node.run(release, Check::kFelixReady);
      EXPECT_EQ(felix.verdict == Verdict::kGood, release == Release::kOwn) << felix.text;
    }
  }
}

/// What Felix was seen to answer through its life (felix/fv/health_test.go), and that we follow.
SIM_TEST_SEEDS(CalicoFelix, FelixIsFollowedThroughItsLife, 1) {
  CalicoNode node(sim);
  constexpr const char* kOk = "HTTP/1.1 200 OK\r\n\r\n";
  constexpr const char* kNo = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
  struct Moment {
    std::string_view what;
    const char* live;
    const char* ready;
  };
  node.answer_http(kOk);
  for (const Moment& moment :
       std::to_array<Moment>({{"F1 normal start", kOk, kOk},
                              {"F2 iptables-restore gone", kOk, kNo},
                              {"F3 iptables slow", kNo, kNo},
                              {"F5 calculation graph hangs", kNo, kNo},
                              {"F6 dataplane hangs for less than 90 s", kOk, kOk},
                              {"F7 dataplane hangs, limit 20 s", kNo, kNo},
                              {"F8 Typha unreachable", kOk, kNo},
                              {"F8 Typha there again", kOk, kOk},
                              {"F9 Typha with a bad API endpoint", kNo, kNo},
                              {"F10 datastore not ready counts as ready", kOk, kOk}})) {
    for (const Release release : kAll) {
      node.answers_now(moment.live);
      EXPECT_EQ(node.run(release, Check::kFelixLive).verdict == Verdict::kGood, moment.live == kOk)
          << moment.what;
      node.answers_now(moment.ready);
      EXPECT_EQ(node.run(release, Check::kFelixReady).verdict == Verdict::kGood,
                moment.ready == kOk)
          << moment.what;
    }
  }
}

}  // namespace
}  // namespace wardmote::sim
