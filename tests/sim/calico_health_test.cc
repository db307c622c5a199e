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

#include "sim/calico_node.h"

namespace wardmote::sim {
namespace {

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
                std::string("1002-Mesh_10_0_0_1 BGP master up 07:54:13 Esta\0blished\n0000 \n", 61),
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

SIM_TEST_SEEDS(CalicoHealth, ALastLineWithoutItsEndIsATimeout, 1) {
  for (const std::string& table : {bird_table(std::string(kUp1)), kBothUp}) {
    CalicoNode node(sim);
    std::string reply = table;
    while (reply.ends_with('\n')) reply.pop_back();
    node.serve(bird_with(reply));
    EXPECT_EQ(
        node.run(Release::kHead).text,
        kNotReady + "error executing command: read unix @->/var/run/calico/bird.ctl: i/o timeout");
  }
}

SIM_TEST_SEEDS(CalicoHealth, AFileInThePlaceOfTheFolderPanics, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp), "/var/run/bird/bird.ctl");
  node.host.files().put("/var/run/calico", "a file");
  EXPECT_EQ(node.run(Release::kHead).verdict, Verdict::kPanic);
  EXPECT_EQ(node.run(Release::kOwn).verdict, Verdict::kGood);
}

SIM_TEST_SEEDS(CalicoHealth, AnUnexpectedLineIsInLowerCaseInEveryRelease, 1) {
  for (const Release release : {Release::kCalico322, Release::kCalico330, Release::kHead}) {
    CalicoNode node(sim);
    node.serve(bird_with("9000 no\n"));
    EXPECT_TRUE(node.run(release).text.contains("unexpected output line from BIRD: '9000 no'"));
  }
}

/// `sv status` says run of a service that is paused, and of one that got TERM.
SIM_TEST_SEEDS(CalicoHealth, APausedConfdIsNotLiveHere, 1) {
  struct Row {
    char paused, want, got_term;
    std::string_view says;
  };
  for (const Row& row : {Row{1, 'u', 0, "paused"}, Row{0, 'd', 1, "got TERM"}}) {
    CalicoNode node(sim);
    node.serve(bird_with(kBothUp));
    const std::string folder = "/etc/service/enabled/confd/supervise/status";
    std::string status("\x40\0\0\0\x6a\xff\xfd\x16\x09\x98\xfa\x54\x91\x6f\0\0", 16);
    node.host.files().put(folder, status + row.paused + row.want + row.got_term + '\1');
    EXPECT_EQ(node.run(Release::kHead, Check::kBirdLive).verdict, Verdict::kGood);
    const HealthResult own = node.run(Release::kOwn, Check::kBirdLive);
    EXPECT_EQ(own.verdict, Verdict::kBad);
    EXPECT_TRUE(own.text.contains("service confd: ")) << own.text;
    EXPECT_TRUE(own.text.contains(row.says)) << own.text;
  }
}

SIM_TEST_SEEDS(CalicoHealth, ALoggerThatDoesNotRunFailsSvAndNotBird, 1) {
  CalicoNode node(sim);
  node.serve(bird_with(kBothUp));
  node.host.files().put("/etc/service/enabled/bird/log/run", "");
  EXPECT_EQ(node.run(Release::kHead, Check::kBirdLive).text,
            "calico/node is not ready: bird/confd is not live: exit status 1");
  EXPECT_EQ(node.run(Release::kOwn, Check::kBirdLive).verdict, Verdict::kGood);
}

}  // namespace
}  // namespace wardmote::sim
