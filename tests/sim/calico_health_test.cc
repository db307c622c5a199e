#include "observe/calico/health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/bird_captures.h"
#include "support/fake_bird.h"

namespace wardmote::sim {
namespace {

using observe::calico::Check;
using observe::calico::HealthPlan;
using observe::calico::HealthResult;
using observe::calico::Release;
using runtime::Endpoint;
using runtime::Task;
using testing::bird_table;
using testing::bird_with;
using testing::BirdManners;
using testing::FakeBird;
using Verdict = HealthResult::Verdict;
using namespace std::chrono_literals;

constexpr std::string_view kUp1 =
    "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n";
constexpr std::string_view kUp2 =
    " Mesh_10_0_0_2 BGP      master   up     07:54:13    Established   \n";
constexpr std::string_view kDown2 =
    " Mesh_10_0_0_2 BGP      master   start  07:54:13    Active        \n";
const std::string kBothUp = bird_table(std::string(kUp1).append(kUp2));
const std::string kOneUp = bird_table(std::string(kUp1).append(kDown2));
constexpr std::string_view kRestarting =
    "1000-BIRD 1.6.8\n1011-Router ID is 1.1.1.1\n"
    "0024-Graceful restart recovery in progress\n   Waiting for 1 protocols to recover\n"
    "   Wait timer is 238/240\n0013 Daemon is up and running\n";
const std::string kNotReady = "calico/node is not ready: BIRD is not ready: ";

/// A Calico node with one BIRD, its nodename file, runit folders, and a Felix that answers one
/// thing.
class CalicoNode {
 public:
  explicit CalicoNode(World& world) : sim(world) {
    host.files().put("/var/lib/calico/nodename", "node-1", host.wall_now());
    for (const char* service : {"confd", "bird"}) run_service(service);
    plan.policy = observe::calico::own_policy();
  }

  void serve(BirdManners manners, std::string path = "/var/run/calico/bird.ctl") {
    host.files().put(path, "");
    const auto spawn = [this](std::string name, Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    bird = std::make_unique<FakeBird>(host, spawn, Endpoint::unix_socket(std::move(path)),
                                      std::move(manners));
  }
  void nodename_age(Duration age) {
    host.files().put("/var/lib/calico/nodename", "node-1", host.wall_now() - age);
  }
  void run_service(const std::string& name, char state = '\1') {
    const std::string folder = "/etc/service/enabled/" + name + "/supervise";
    host.files().put_fifo(folder + "/ok", true);
    std::string status("\x40\0\0\0\x6a\xff\xfd\x16\x09\x98\xfa\x54\x91\x6f\0\0\0\x75\0", 19);
    host.files().put(folder + "/status", status + state);
  }
  void answer_http(std::string bytes, bool closes = true,
                   Endpoint at = Endpoint::tcp("node-1", 9099)) {
    auto listener = host.listen(std::move(at));
    check(listener.has_value(), "no listener");
    host.spawn("felix", serve_http(&host, *std::move(listener), &http_));
    http_ = {std::move(bytes), closes};
    plan.felix.host = "node-1";
  }
  void answers_now(std::string bytes) { http_.bytes = std::move(bytes); }

  HealthResult run(Check check = Check::kBirdReady) {
    begun = host.now();
    HealthResult result = run_task(
        sim, host, observe::calico::check_health(&host, &plan, check, host.deadline_in(3s)));
    took = host.now() - begun;
    return result;
  }
  HealthResult run(Release release, Check check = Check::kBirdReady) {
    plan.release = release;
    return run(check);
  }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  HealthPlan plan;
  std::unique_ptr<FakeBird> bird;
  TimePoint begun;
  Duration took{};

 private:
  struct Http {
    std::string bytes;
    bool closes = true;
  };

  static Task<void> serve_http(SimRuntime* host, std::unique_ptr<runtime::Listener> listener,
                               Http* http) {
    for (;;) {
      auto stream = co_await listener->accept();
      if (!stream) co_return;
      // All of it: whoever closes with bytes unread resets the connection.
      std::string request;
      while (!request.ends_with("\r\n\r\n")) {
        std::array<char, 1024> chunk;
        const auto got = co_await (*stream)->read_some(chunk, host->deadline_in(1h));
        if (!got) break;
        request.append(chunk.data(), *got);
      }
      const std::string answer = http->bytes;
      const auto sent = co_await (*stream)->write(answer, host->deadline_in(1h));
      if (sent && !http->closes) co_await host->sleep_until(host->now() + 1h);
    }
  }

  Http http_;
  Curfew ends_ = Curfew(host);
};

constexpr std::array kAll = {Release::kOwn, Release::kCalico322, Release::kCalico330,
                             Release::kHead};

SIM_TEST_SEEDS(CalicoHealth, EveryReleaseAgreesOnPeersAndWindow, 2) {
  for (const Release release : kAll) {
    const auto verdict = [&](std::string table, Duration age) {
      CalicoNode node(sim);
      node.serve(bird_with(std::move(table)));
      node.nodename_age(age);
      return node.run(release);
    };
    EXPECT_EQ(verdict(kBothUp, 0s).verdict, Verdict::kGood);
    EXPECT_EQ(verdict(kBothUp, 0s).text, "") << "silent";
    EXPECT_EQ(verdict(kOneUp, 0s).verdict, Verdict::kBad);
    EXPECT_TRUE(
        verdict(kOneUp, 0s).text.starts_with(kNotReady + "BGP not established with 10.0.0.2"));
    EXPECT_EQ(verdict(kOneUp, 1h).verdict, Verdict::kGood);
    const std::string none = "Mesh_10_0_0_1 BGP m start 07:54:13 Connect\n" + std::string(kDown2);
    EXPECT_TRUE(verdict(bird_table(none), 1h)
                    .text.starts_with(kNotReady + "BGP not established with 10.0.0.1"));
    EXPECT_EQ(verdict(bird_table("kernel1  Kernel   master   up     07:54:13    \n"), 0s).verdict,
              Verdict::kGood)
        << "no peers are ready";
    EXPECT_EQ(
        verdict(bird_table("Mesh_10_0_0_1 BGP m start 07:54:13 Idle Received: Established\n"), 1h)
            .verdict,
        Verdict::kBad);
    EXPECT_EQ(verdict(bird_table("Mesh_10_0_0_1 BGP m wait 07:54:13 Established\n"), 1h).verdict,
              Verdict::kGood);
  }
}

SIM_TEST_SEEDS(CalicoHealth, AGracefulRestartMattersInTheWindow, 2) {
  for (const Release release : kAll) {
    CalicoNode node(sim);
    BirdManners manners = bird_with(kBothUp);
    manners.replies["show status"] = kRestarting;
    node.serve(manners);
    const HealthResult young = node.run(release);
    EXPECT_EQ(young.verdict, Verdict::kBad);
    EXPECT_TRUE(young.text.starts_with(kNotReady + "graceful restart in progress")) << young.text;
    node.nodename_age(1h);
    EXPECT_EQ(node.run(release).verdict, Verdict::kGood);
  }
}

SIM_TEST_SEEDS(CalicoHealth, AMissingNodenameFileIsNamed, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp));
  node.host.files().remove("/var/lib/calico/nodename");
  EXPECT_EQ(node.run(Release::kHead).text,
            kNotReady +
                "failed to stat() nodename file: stat /var/lib/calico/nodename: no such file or "
                "directory");
  EXPECT_EQ(node.run(Release::kCalico330).text,
            kNotReady +
                "Failed to stat() nodename file: stat /var/lib/calico/nodename: no such file or "
                "directory");
}

SIM_TEST_SEEDS(CalicoHealth, ANodenameFileOfTheFutureIsOldHereAndYoungThere, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kOneUp));
  node.nodename_age(-24h * 365);
  EXPECT_EQ(node.run(Release::kHead).verdict, Verdict::kBad);
  const HealthResult own = node.run(Release::kOwn);
  EXPECT_EQ(own.verdict, Verdict::kGood);
  EXPECT_TRUE(own.details.back().contains("future"));
}

/// A hostile answer to `show protocols`; what Calico was seen to make of it (its own code was run
/// against each), and what is right.
struct Hostile {
  std::string_view name;
  std::string reply;
  bool closes;
  Verdict calico;
  std::string_view calico_says;
  Verdict own;
};

SIM_TEST_SEEDS(CalicoHealth, OnHostileRepliesCompatEqualsCalicoAndOwnIsNeverReady, 1) {
  const std::string headings(testing::kBirdHeadings);
  const std::string row = "1002-" + std::string(kUp1);
  for (const Hostile& given : std::vector<Hostile>{
           {"readclose", "", true, Verdict::kGood, "", Verdict::kUnknown},
           {"truncated", headings + row, true, Verdict::kGood, "", Verdict::kUnknown},
           {"truncated-mid", headings + "1002-Mesh_10_0_0_1 BGP  mas", true, Verdict::kGood, "",
            Verdict::kUnknown},
           {"short2002", "2002\n0000 \n", false, Verdict::kPanic, "slice bounds out of range",
            Verdict::kUnknown},
           {"short1002", headings + "1002\n0000 \n", false, Verdict::kPanic,
            "slice bounds out of range", Verdict::kUnknown},
           {"prefix0000", headings + "0000x garbage but starts with 0000\n0000 \n", false,
            Verdict::kGood, "", Verdict::kUnknown},
           {"noheader", "1002-Mesh_10_0_0_1 BGP m up t Established\n0000 \n", false, Verdict::kGood,
            "", Verdict::kUnknown},
           {"longline",
            headings + "1002-Mesh_10_0_0_1 BGP master up 07:54:13 Established " +
                std::string(70'000, 'x') + "\n0000 \n",
            false, Verdict::kBad, "error executing command: bufio.Scanner: token too long",
            Verdict::kUnknown},
           {"garbage", "\x8f\x11/\xf3\x2b\n", false, Verdict::kBad,
            "unexpected output line from BIRD: '", Verdict::kUnknown},
           {"nul",
            headings +
                std::string("1002-Mesh_10_0_0_1 BGP master up 07:54:13 Esta\0blished\n0000 \n", 60),
            false, Verdict::kBad, "BGP not established with 10.0.0.1", Verdict::kUnknown},
           {"crlf",
            "2002-name proto table state since info\r\n1002-Mesh_10_0_0_1 BGP m up 07:54:13 "
            "Established\r\n0000 \r\n",
            false, Verdict::kGood, "", Verdict::kGood},
           {"down5", headings + "1002-Mesh_10_0_0_1 BGP      master   down   07:54:28    \n0000 \n",
            false, Verdict::kGood, "", Verdict::kBad},
           {"err8", "8003 No protocols match\n", false, Verdict::kBad,
            "error executing command: unexpected output line from BIRD: '8003 No protocols match'",
            Verdict::kUnknown},
           {"bird2",
            "2002-Name       Proto      Table      State  Since         Info\n"
            "1002-Mesh_10_0_0_1 BGP        ---        up     07:55:57.017  Established   \n0000 \n",
            false, Verdict::kBad, "error executing command: unknown BIRD table output format",
            Verdict::kGood},
           {"iso-long",
            "2002-name proto table state since info\n1002-Mesh_10_0_0_1 BGP master up 2026-11-20 "
            "07:57:15  Established\n0000 \n",
            false, Verdict::kBad, "BGP not established with 10.0.0.1", Verdict::kGood},
       }) {
    BirdManners manners = bird_with(given.reply);
    if (given.closes) manners.close_after = "show protocols";
    {
      CalicoNode node(sim);
      node.serve(manners);
      const HealthResult calico = node.run(Release::kHead);
      EXPECT_EQ(calico.verdict, given.calico) << given.name << ": " << calico.text;
      EXPECT_TRUE(calico.text.contains(given.calico_says)) << given.name << ": " << calico.text;
      EXPECT_EQ(calico.text.contains('\0'), false) << given.name;
    }
    if (given.closes) manners.close_after = "show protocols all";
    CalicoNode node(sim);
    node.serve(manners);
    const HealthResult own = node.run(Release::kOwn);
    EXPECT_EQ(own.verdict, given.own) << given.name << ": " << own.text;
  }
}

SIM_TEST_SEEDS(CalicoHealth, TheRealTablesGiveCalicosVerdicts, 1) {
  struct Row {
    std::string_view capture;
    std::string_view command;
    Duration age;
    Verdict calico;
  };
  for (const Row& row : std::vector<Row>{
           {"bird16-01-just-started.txt", "show protocols", 0s, Verdict::kBad},
           {"bird16-02-mixed-states.txt", "show protocols", 0s, Verdict::kBad},
           {"bird16-02-mixed-states.txt", "show protocols", 1h, Verdict::kGood},
           {"bird16-05-one-protocol.txt", "show protocols Mesh_10_9_1_2", 0s, Verdict::kGood},
           {"bird16-06-errors.txt", "show protocols   ", 1h, Verdict::kGood},
           {"bird16-09-disabled.txt", "show protocols", 1h, Verdict::kBad},
           {"bird16-09-peer-of-disabled.txt", "show protocols \"Mesh_*\"", 1h, Verdict::kBad},
           {"bird16-10-reenabled.txt", "show protocols Mesh_10_9_1_2", 0s, Verdict::kGood},
           {"bird16-11-timeformat-iso-long.txt", "show protocols \"Mesh_*\"", 1h, Verdict::kBad},
           {"bird20-02-mixed-states.txt", "show protocols", 1h, Verdict::kBad},
           {"bird20-15-gr-in-progress.txt", "show protocols", 1h, Verdict::kBad},
       }) {
    CalicoNode node(sim);
    node.serve(bird_with(testing::bird_reply(row.capture, row.command)));
    node.nodename_age(row.age);
    const HealthResult result = node.run(Release::kHead);
    EXPECT_EQ(result.verdict, row.calico) << row.capture << ": " << result.text;
  }
  CalicoNode node(sim);
  node.serve(bird_with(testing::bird_reply("bird16-02-mixed-states.txt", "show protocols")));
  EXPECT_EQ(node.run(Release::kHead).text,
            kNotReady +
                "BGP not established with "
                "10.9.2.2,10.9.4.2,10.9.1.3.port.1790,10.9.3.9,10.9.3.7,10.9.1.8");
  const HealthResult own = node.run(Release::kOwn);
  EXPECT_TRUE(own.text.contains("10.9.4.2 (Idle: BGP Error: Bad peer AS)")) << own.text;
  EXPECT_FALSE(own.text.contains("port.1790")) << own.text;
}

SIM_TEST_SEEDS(CalicoHealth, ASilentBirdEndsInTimeAndInItsWords, 3) {
  CalicoNode node(sim);
  node.serve({.accepts = false});
  EXPECT_EQ(
      node.run(Release::kHead).text,
      kNotReady + "error executing command: read unix @->/var/run/calico/bird.ctl: i/o timeout");
  EXPECT_LE(node.took, 2100ms);
  const HealthResult own = node.run(Release::kOwn);
  EXPECT_EQ(own.verdict, Verdict::kBad);
  EXPECT_TRUE(own.text.contains("no greeting")) << own.text;
  EXPECT_LE(node.took, 3050ms) << "one deadline";
}

SIM_TEST_SEEDS(CalicoHealth, ADripEndsAtTheDeadlineWhichInCalicoItDoesNot, 2) {
  CalicoNode node(sim);
  BirdManners drip = bird_with(kBothUp);
  drip.step = 60;
  drip.pause = 1s;
  node.serve(drip);
  EXPECT_NE(node.run(Release::kHead).verdict, Verdict::kGood);
  EXPECT_LE(node.took, 3050ms);
  EXPECT_EQ(node.run(Release::kOwn).verdict, Verdict::kBad);
  EXPECT_LE(node.took, 3050ms);
}

SIM_TEST_SEEDS(CalicoHealth, SocketsOfBothFoldersAndTheirErrors, 1) {
  CalicoNode node(sim);
  EXPECT_EQ(node.run(Release::kHead).text,
            kNotReady +
                "error querying BIRD: unable to connect to BIRDv4 socket: dial unix "
                "/var/run/bird/bird.ctl: connect: no such file or directory");
  const std::string both = node.run(Release::kOwn).text;
  EXPECT_TRUE(both.contains("/var/run/calico/bird.ctl")) << both;
  EXPECT_TRUE(both.contains("/var/run/bird/bird.ctl")) << both;
  node.host.files().refuse("/var/run/calico/bird.ctl", Errc::kDenied);
  EXPECT_EQ(node.run(Release::kHead).verdict, Verdict::kPanic);
  node.host.files().remove("/var/run/calico/bird.ctl");
  node.serve(bird_with(kBothUp), "/var/run/bird/bird.ctl");
  for (const Release release : kAll) EXPECT_EQ(node.run(release).verdict, Verdict::kGood);
}

SIM_TEST_SEEDS(CalicoHealth, Bird6AsksForItsOwnPeers, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(bird_table("Mesh_fd09_1__2 BGP master start 07:57:52 Active\n")),
             "/var/run/calico/bird6.ctl");
  node.nodename_age(1h);
  for (const Release release : kAll) {
    const HealthResult result = node.run(release, Check::kBird6Ready);
    EXPECT_TRUE(result.text.starts_with(
        "calico/node is not ready: BIRD6 is not ready: BGP not established with fd09:1::2"))
        << result.text;
  }
}

SIM_TEST_SEEDS(CalicoHealth, OneBird2HasTheSessionsOfBothFamilies, 1) {
  CalicoNode node(sim);
  BirdManners real =
      bird_with(testing::bird_reply("bird20-03-protocols-all.txt", "show protocols all"));
  node.serve(real);
  node.nodename_age(1h);
  EXPECT_EQ(node.run(Release::kOwn, Check::kBirdReady).verdict, Verdict::kGood);
  const HealthResult six = node.run(Release::kOwn, Check::kBird6Ready);
  EXPECT_EQ(six.verdict, Verdict::kGood) << six.text;
  EXPECT_TRUE(std::ranges::none_of(
      six.details, [](const std::string& detail) { return detail.contains("10.9.4.2"); }));
}

SIM_TEST_SEEDS(CalicoHealth, BirdLiveNeedsItsServicesAndAnAnswer, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp));
  for (const Release release : kAll)
    EXPECT_EQ(node.run(release, Check::kBirdLive).verdict, Verdict::kGood);

  node.run_service("confd", '\0');
  const std::string text = node.run(Release::kHead, Check::kBirdLive).text;
  EXPECT_TRUE(
      text.starts_with("calico/node is not ready: bird/confd is not live: service confd is not "
                       "running. Output << down: /etc/service/enabled/confd: "))
      << text;
  EXPECT_TRUE(node.run(Release::kCalico322, Check::kBirdLive)
                  .text.contains("Service confd is not running. Output << "));

  node.host.files().put_fifo("/etc/service/enabled/confd/supervise/ok", false);
  EXPECT_EQ(node.run(Release::kHead, Check::kBirdLive).text,
            "calico/node is not ready: bird/confd is not live: exit status 1");
  EXPECT_EQ(node.run(Release::kOwn, Check::kBirdLive).text,
            "calico/node is not ready: bird/confd is not live: fail: /etc/service/enabled/confd: "
            "runsv not running")
      << "the reason, which Calico throws away";
}

SIM_TEST_SEEDS(CalicoHealth, AHungBirdIsNotLive, 2) {
  CalicoNode node(sim);
  node.serve({.accepts = false});
  EXPECT_EQ(node.run(Release::kCalico322, Check::kBirdLive).verdict, Verdict::kGood)
      << "before birdcl was asked";
  EXPECT_EQ(node.run(Release::kHead, Check::kBirdLive).text,
            "calico/node is not ready: bird is not live: exit status 1");
  EXPECT_TRUE(node.run(Release::kOwn, Check::kBirdLive)
                  .text.contains("bird is not live: unix:/var/run/calico/bird.ctl: no greeting"));
  EXPECT_LE(node.took, 3050ms);
}

/// Answers of Felix, and what Go's client was seen to make of them.
struct FelixRow {
  std::string_view name;
  std::string answer;
  bool good;
  std::string_view says;
};

SIM_TEST_SEEDS(CalicoHealth, FelixAnswersAreTakenAsGoTakesThem, 1) {
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
            false, "interim"},
           {"100once", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", true, ""},
           {"partial", "HTTP/1.1 200 OK\r\nContent-Le", false, "unexpected EOF"},
           {"no_colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", false, "no header"},
           {"twocl", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", false,
            "two lengths"},
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

SIM_TEST_SEEDS(CalicoHealth, FelixSilentSlowAndAbsent, 2) {
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

SIM_TEST_SEEDS(CalicoHealth, FelixHeadersHaveACapThatGosIsMuchHigherThan, 1) {
  const std::string huge = "HTTP/1.1 200 OK\r\nA: " + std::string(2 << 20, 'x') + "\r\n\r\n";
  CalicoNode node(sim);
  node.answer_http(huge);
  EXPECT_EQ(node.run(Release::kHead, Check::kFelixReady).verdict, Verdict::kGood);
  EXPECT_EQ(node.run(Release::kOwn, Check::kFelixReady).verdict, Verdict::kBad);
}

SIM_TEST_SEEDS(CalicoHealth, FelixMayNotSendUsElsewhere, 1) {
  CalicoNode node(sim);
  node.answer_http("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.9/x\r\n\r\n");
  const HealthResult own = node.run(Release::kOwn, Check::kFelixReady);
  EXPECT_TRUE(own.text.contains("another host")) << own.text;
}

SIM_TEST_SEEDS(CalicoHealth, FelixPortsThatAreNoneFailThisCheckOnly, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp));
  for (const char* port : {"abc", "0", "-1", "65536", " 9099"}) {
    node.plan.felix.port = port;
    for (const Release release : kAll)
      EXPECT_NE(node.run(release, Check::kFelixReady).verdict, Verdict::kGood) << port;
    EXPECT_EQ(node.run(Release::kOwn, Check::kBirdReady).verdict, Verdict::kGood);
  }
}

SIM_TEST_SEEDS(CalicoHealth, FelixOverIpv6WithAndWithoutBrackets, 1) {
  for (const char* host : {"::1", "[::1]"}) {
    CalicoNode node(sim);
    node.answer_http("HTTP/1.1 200 OK\r\n\r\n", true, Endpoint::tcp("::1", 9099));
    node.plan.felix.host = host;
    EXPECT_EQ(node.run(Release::kOwn, Check::kFelixReady).verdict, Verdict::kGood) << host;
  }
}

/// What Felix was seen to answer through its life (felix/fv/health_test.go), and that we follow.
SIM_TEST_SEEDS(CalicoHealth, FelixIsFollowedThroughItsLife, 1) {
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
