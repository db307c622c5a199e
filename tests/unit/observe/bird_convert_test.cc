#include "observe/bird/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "judge/bgp/policy.h"
#include "support/bird_captures.h"

namespace wardmote::observe::bird {
namespace {

using judge::bgp::BgpFacts;
using judge::bgp::Session;
using judge::bgp::SessionState;
using testing::bird_reply;
using namespace std::chrono_literals;

BgpFacts facts_of(std::string_view status, std::string_view protocols) {
  return to_facts(codec::parse_bird_status(status).value(),
                  codec::parse_bird_protocols(protocols).value());
}

const Session& session(const BgpFacts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts.sessions, name, &Session::name);
  check(found != facts.sessions.end(), "no such session");
  return *found;
}

TEST(BirdAge, OfATimeADateAndBoth) {
  EXPECT_EQ(age_of("07:55:55.155", "2026-11-20 07:56:11.515"), 16360ms);
  EXPECT_EQ(age_of("07:56:54", "2026-11-20 07:57:10"), 16s);
  EXPECT_EQ(age_of("23:59:00", "2026-11-20 00:01:00"), 2min) << "yesterday";
  EXPECT_EQ(age_of("2026-11-18", "2026-11-20 12:00:00"), 60h);
  EXPECT_EQ(age_of("2026-11-20 07:54:36", "2026-11-20 07:54:40"), 4s);
}

TEST(BirdAge, OfWhatIsNotUnderstoodIsNotKnown) {
  for (const char* since :
       {"", "yesterday", "2026-13-40", "25:00:00", "2026-11-21", "07:5", "-1:-1:-1"})
    EXPECT_FALSE(age_of(since, "2026-11-20 12:00:00").has_value()) << since;
  EXPECT_FALSE(age_of("07:56:54", "").has_value());
  EXPECT_FALSE(age_of("07:56:54", "12:00:00").has_value());
}

TEST(BirdFacts, BothVersionsSayTheSame) {
  const BgpFacts old = facts_of(bird_reply("bird16-04-status.txt", "show status"),
                                bird_reply("bird16-03-protocols-all.txt", "show protocols all"));
  const BgpFacts recent = facts_of(bird_reply("bird20-04-status.txt", "show status"),
                                   bird_reply("bird20-03-protocols-all.txt", "show protocols all"));
  EXPECT_EQ(old.version, "BIRD 1.6.8");
  EXPECT_EQ(recent.version, "BIRD 2.0.12");
  EXPECT_EQ(old.sessions.size(), 9U);
  EXPECT_EQ(recent.sessions.size(), 11U) << "and two of IPv6 in the same daemon";
  for (const BgpFacts* facts : {&old, &recent}) {
    EXPECT_EQ(facts->router_id, "10.9.1.1");
    EXPECT_EQ(facts->lines_not_understood, 0U);
    EXPECT_EQ(facts->up_for.value() / 1s, 16);
    const Session& up = session(*facts, "Mesh_10_9_1_2");
    EXPECT_TRUE(up.established());
    EXPECT_EQ(up.routes, (judge::bgp::Routes{2, 4}));
    EXPECT_EQ(up.in_state.value() / 1s, 14);
    EXPECT_GT(up.hold_left.value(), 100s);
    const Session& port = session(*facts, "Node_10_9_1_3_port_1790");
    EXPECT_EQ(port.address, "10.9.1.3");
    EXPECT_EQ(port.port, 1790);
    EXPECT_EQ(port.last_error, "Socket: Connection refused");
    EXPECT_TRUE(session(*facts, "Node_10_9_1_9").admin_down);
    EXPECT_EQ(session(*facts, "Node_10_9_1_9").state, SessionState::kDown);
    EXPECT_TRUE(session(*facts, "Node_10_9_1_8").passive);
    EXPECT_EQ(session(*facts, "Node_10_9_4_2").remote_as, 64999U);
    EXPECT_EQ(session(*facts, "Mesh_10_9_2_2").state, SessionState::kConnect);
    EXPECT_EQ(session(*facts, "Mesh_10_9_2_2").last_error, "");
  }
  EXPECT_EQ(session(recent, "Mesh_fd09_1__2").address, "fd09:1::2");
  EXPECT_EQ(session(recent, "Mesh_fd09_1__2").families, (std::vector<std::string>{"ipv6"}));
}

TEST(BirdFacts, WithoutDetailTheNameTellsTheAddress) {
  const BgpFacts facts = facts_of(bird_reply("bird20-04-status.txt", "show status"),
                                  bird_reply("bird20-02-mixed-states.txt", "show protocols"));
  EXPECT_EQ(session(facts, "Mesh_fd09_1__2").address, "fd09:1::2");
  EXPECT_EQ(session(facts, "Node_10_9_1_3_port_1790").port, 1790);
  EXPECT_EQ(session(facts, "Local_Workload_10_9_1_10").address, "");
  EXPECT_EQ(session(facts, "Node_10_9_4_2").last_error, "BGP Error: Bad peer AS");
}

constexpr std::string_view kStatus = "1000-BIRD 1.6.8\n0013 Daemon is up and running\n";

BgpFacts facts_of_rows(std::string_view rows) {
  return facts_of(kStatus, fmt::format("2002-name proto table state since info\n{}0000 \n", rows));
}

TEST(BirdFacts, OnlyTheFirstWordOfInfoIsTheState) {
  const BgpFacts facts =
      facts_of_rows("1002-a BGP master start 07:54:13 Idle Received: Established\n");
  EXPECT_FALSE(facts.sessions[0].established());
  EXPECT_EQ(facts.sessions[0].last_error, "Received: Established");
}

TEST(BirdFacts, AnEstablishedSessionThatWaitsIsRestarting) {
  const BgpFacts facts = facts_of_rows("1002-a BGP master wait 07:54:13 Established\n");
  EXPECT_TRUE(facts.sessions[0].established());
  EXPECT_TRUE(facts.sessions[0].restarting);
}

TEST(BirdFacts, AShutdownAndARestartAreTold) {
  const BgpFacts facts = facts_of(bird_reply("bird20-18-down.txt", "show status"),
                                  bird_reply("bird20-15-gr-in-progress.txt", "show protocols"));
  EXPECT_TRUE(facts.shutting_down);
  ASSERT_TRUE(facts.restart.has_value());
  EXPECT_EQ(facts.restart->left, 224981ms);
  EXPECT_EQ(facts.restart->total, 240s);
}

TEST(BirdFacts, EveryCaptureIsJudgedTheSameByBothVersions) {
  const auto verdict = [](std::string_view version, std::string_view capture,
                          std::string_view command, Duration started) {
    const BgpFacts facts =
        facts_of(kStatus, bird_reply(fmt::format("bird{}-{}.txt", version, capture), command));
    judge::bgp::Policy policy;
    policy.family = "ipv4";
    return judge::bgp::judge(facts, policy, started).outcome;
  };
  for (const std::string_view version : {"16", "20"}) {
    EXPECT_EQ(verdict(version, "01-just-started", "show protocols", 1s), judge::Outcome::kFail);
    EXPECT_EQ(verdict(version, "02-mixed-states", "show protocols", 1s), judge::Outcome::kFail);
    EXPECT_EQ(verdict(version, "02-mixed-states", "show protocols", 1h), judge::Outcome::kWarn);
    EXPECT_EQ(verdict(version, "09-disabled", "show protocols", 1h), judge::Outcome::kFail);
    EXPECT_EQ(verdict(version, "10-reenabled", "show protocols Mesh_10_9_1_2", 1s),
              judge::Outcome::kOk);
  }
}

}  // namespace
}  // namespace wardmote::observe::bird
