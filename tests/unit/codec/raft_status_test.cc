#include "codec/raft_status.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/raft_status_parts.h"
#include "support/ovn_captures.h"

namespace wardmote::codec {
namespace {

using testing::capture_names;
using testing::statuses_of;

RaftStatus parse(std::string_view text) {
  Result<RaftStatus> status = parse_raft_status(text);
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().describe());
  return status.value_or(RaftStatus{});
}

const RaftServer& server(const RaftStatus& status, std::string_view id) {
  for (const RaftServer& candidate : status.servers) {
    if (candidate.id == id) return candidate;
  }
  static const RaftServer none;
  ADD_FAILURE() << "no server " << id;
  return none;
}

TEST(RaftStatus, AnIdHasDigits) {
  for (const std::string_view good : {"a", "8484", "0123456789abcdef-0123456789abcdef"})
    EXPECT_TRUE(is_raft_id(good)) << good;
  for (const std::string_view bad : {"", "-", "g", "a b", "0123456789abcdef0123456789abcdef0"})
    EXPECT_FALSE(is_raft_id(bad)) << bad;
}

TEST(RaftStatus, EveryCaptureIsUnderstoodAndPrintedBackByteForByte) {
  std::size_t statuses = 0;
  for (const std::string& name : capture_names()) {
    for (const std::string& text : statuses_of(name)) {
      const RaftStatus status = parse(text);
      EXPECT_EQ(status.unknown_count, 0U) << name;
      EXPECT_TRUE(status.complete()) << name;
      EXPECT_EQ(format(status), text) << name;
      ++statuses;
    }
  }
  EXPECT_GE(statuses, 60U) << "the captures are there";
}

TEST(RaftStatus, HealthyLeader) {
  const RaftStatus status = parse(statuses_of("01-healthy.txt").at(0));
  EXPECT_EQ(status.nickname, "dea6");
  EXPECT_EQ(status.name, "OVN_Northbound");
  EXPECT_EQ(status.cluster_id, "b563dad3-5d5e-4b38-a150-859542fb32c9");
  EXPECT_EQ(status.server_id, "dea645fa-f66d-419f-89d2-9ef5ed65767e");
  EXPECT_EQ(status.address, "tcp:127.0.0.1:16641");
  EXPECT_EQ(status.standing, "cluster member");
  EXPECT_EQ(status.role, "leader");
  EXPECT_EQ(status.term, 1U);
  EXPECT_EQ(status.leader, "self");
  EXPECT_EQ(status.vote, "self");
  EXPECT_EQ(status.election_started_ms, 3030U);
  EXPECT_EQ(status.election_reason, "timeout");
  EXPECT_EQ(status.election_won_ms, 3030U);
  EXPECT_EQ(status.election_timer_ms, 1000U);
  EXPECT_EQ(status.log, (RaftLog{2, 5}));
  EXPECT_EQ(status.uncommitted, 0U);
  EXPECT_EQ(status.unapplied, 0U);
  EXPECT_EQ(status.disconnections, 0U);
  ASSERT_EQ(status.links.size(), 4U);
  EXPECT_EQ(status.links[0], (RaftLink{"499b", false, true}));
  EXPECT_EQ(status.links[3], (RaftLink{"1430", true, true}));
  ASSERT_EQ(status.servers.size(), 3U);
  const RaftServer& peer = status.servers[0];
  EXPECT_EQ(peer.id, "1430");
  EXPECT_EQ(peer.address, "tcp:127.0.0.1:16643");
  EXPECT_EQ(peer.next_index, 5U);
  EXPECT_EQ(peer.match_index, 4U);
  EXPECT_EQ(peer.last_message_ms, 336U);
  EXPECT_TRUE(status.servers[1].self);
}

TEST(RaftStatus, CandidateNamesWhomItGotVotesFrom) {
  const RaftStatus status = parse(statuses_of("10-noquorum-follower-survivor.txt").at(0));
  EXPECT_EQ(status.role, "candidate");
  EXPECT_EQ(status.standing, "disconnected from the cluster (election timeout)");
  EXPECT_EQ(status.leader, "unknown");
  EXPECT_EQ(server(status, "1430").voted_for, "1430");
  EXPECT_TRUE(server(status, "1430").self);
  EXPECT_EQ(server(status, "dea6").last_message_ms, 9197U);
  EXPECT_EQ(status.links[0], (RaftLink{"0000", true, false}));
}

TEST(RaftStatus, JoiningServerHasNoClusterYet) {
  const RaftStatus status = parse(statuses_of("22-joining-stuck.txt").at(0));
  EXPECT_EQ(status.cluster_id, "");
  EXPECT_EQ(status.standing, "joining cluster");
  EXPECT_EQ(status.join_remotes,
            (std::vector<std::string>{"tcp:10.77.0.99:6643", "tcp:10.77.0.98:6643"}));
  EXPECT_TRUE(status.lists_servers);
  EXPECT_TRUE(status.servers.empty());
}

TEST(RaftStatus, PhaseOfAServerBeingAdded) {
  const RaftStatus status = parse(statuses_of("32-adding-phase.txt").at(0));
  EXPECT_EQ(server(status, "c8c7").phase, "adding: committing");
  EXPECT_EQ(server(status, "c8c7").match_index, 35U);
}

TEST(RaftStatus, UnixRaftAddressesHaveOtherNicknames) {
  const RaftStatus status = parse(statuses_of("34-unix-nicknames.txt").at(0));
  EXPECT_EQ(status.nickname, "alpha");
  EXPECT_EQ(status.links.at(0), (RaftLink{"bravo", false, true}));
  EXPECT_EQ(server(status, "f4b9").nickname, "alpha");
  EXPECT_EQ(server(status, "f4b9").address, "unix:$LAB/ovnlab2/u1/alpha.raft");
}

TEST(RaftStatus, ElectionTimerUnderChange) {
  const RaftStatus status = parse(statuses_of("21-election-timer-change.txt").at(0));
  EXPECT_EQ(status.election_timer_ms, 2000U);
  EXPECT_EQ(status.election_timer_next_ms, 4000U);
}

// The lines come from ovsdb/raft.c raft_unixctl_status; only a leader prints them, above its role.
TEST(RaftStatus, MembershipChangesOfALeader) {
  const RaftStatus status = parse(
      "1430\nName: OVN_Northbound\n"
      "Adding server c8c7 (c8c7 at tcp:10.77.0.4:6643) (adding: catchup)\n"
      "Adding server d9a3 (d9a3 at tcp:10.77.0.5:6643) (adding: caught up)\n"
      "Removing server 6438 (6438 at tcp:10.77.0.2:6643) (removing)\n"
      "Role: leader\nTerm: 3\nServers:\n    6438 (6438 at tcp:10.77.0.2:6643) (removing) "
      "next_index=9 match_index=8\n");
  ASSERT_EQ(status.changes.size(), 3U);
  EXPECT_EQ(status.changes[0],
            (RaftChange{true, "c8c7", "c8c7", "tcp:10.77.0.4:6643", "adding: catchup"}));
  EXPECT_EQ(status.changes[1].phase, "adding: caught up");
  EXPECT_EQ(status.changes[2],
            (RaftChange{false, "6438", "6438", "tcp:10.77.0.2:6643", "removing"}));
  EXPECT_EQ(server(status, "6438").phase, "removing");
  EXPECT_EQ(status.unknown_count, 0U);
  EXPECT_EQ(parse(format(status)).changes, status.changes);
}

TEST(RaftStatus, OldVersionsPrintFewerLines) {  // OVS 2.9 to 2.11
  const RaftStatus status = parse(
      "dea6\nName: OVN_Northbound\nCluster ID: b563 (b563dad3-5d5e-4b38-a150-859542fb32c9)\n"
      "Server ID: dea6 (dea645fa-f66d-419f-89d2-9ef5ed65767e)\nAddress: "
      "tcp:127.0.0.1:16641\nStatus: cluster member\n"
      "Role: leader\nTerm: 1\nLeader: self\nVote: self\n\nLog: [2, 5]\nEntries not yet committed: "
      "0\n"
      "Entries not yet applied: 0\nConnections:\nServers:\n"
      "    dea6 (dea6 at tcp:127.0.0.1:16641) (self) next_index=2 match_index=4\n");
  EXPECT_TRUE(status.complete());
  EXPECT_EQ(status.unknown_count, 0U);
  EXPECT_EQ(status.election_timer_ms, std::nullopt);
  EXPECT_EQ(status.disconnections, std::nullopt);
}

TEST(RaftStatus, WindowsLineEndsUnicodeIndentAndBullets) {
  const RaftStatus status = parse(
      "dea6\r\nRole: follower\r\nTerm: 7\r\nServers:\r\n\r\n"
      "\u00a0\u00a01430 (1430 at tcp:127.0.0.1:16643)\r\n"
      "\u3000499b (499b at tcp:127.0.0.1:16642) last msg 5 ms ago\r\n"
      "- dea6 (dea6 at tcp:127.0.0.1:16641) (self)\r\n"
      "\r\nDisconnections: 3\r\n");
  ASSERT_EQ(status.servers.size(), 3U);
  EXPECT_EQ(status.servers[1].last_message_ms, 5U);
  EXPECT_TRUE(status.servers[2].self);
  EXPECT_EQ(status.disconnections, 3U) << "a blank line ends the block";
  EXPECT_EQ(status.unknown_count, 0U);
}

TEST(RaftStatus, AnUnindentedLineEndsTheBlock) {
  const RaftStatus status = parse(
      "dea6\nRole: follower\nServers:\n    dea6 (dea6 at tcp:127.0.0.1:16641) (self)\nTerm: 7\n"
      "    1430 (1430 at tcp:127.0.0.1:16643)\n");
  EXPECT_EQ(status.term, 7U);
  EXPECT_EQ(status.servers.size(), 1U);
  EXPECT_EQ(status.unknown_lines, std::vector<std::string>{"1430 (1430 at tcp:127.0.0.1:16643)"});
}

TEST(RaftStatus, TheShapeThatOvnstatusAlsoRead) {
  const RaftStatus status = parse(
      "Role: leader\nTerm: 2\nServers:\n"
      "    77f0 (self) at tcp:10.0.0.1:6643 (leader)\n    88a1 at tcp:10.0.0.2:6643 (follower)\n"
      "    99b2 at ssl:[fd00::3]:6643(disconnected)\n");
  ASSERT_EQ(status.servers.size(), 3U);
  EXPECT_EQ(status.servers[0].id, "77f0");
  EXPECT_EQ(status.servers[0].address, "tcp:10.0.0.1:6643");
  EXPECT_EQ(status.servers[0].role, "leader");
  EXPECT_TRUE(status.servers[0].self);
  EXPECT_FALSE(status.servers[1].self);
  EXPECT_EQ(status.servers[2].address, "ssl:[fd00::3]:6643");
  EXPECT_EQ(status.servers[2].role, "disconnected");
  EXPECT_EQ(status.unknown_count, 0U);
}

TEST(RaftStatus, WhatIsNotUnderstoodIsKeptAndCounted) {
  const RaftStatus status = parse(
      "dea6\nName: OVN_Northbound\nQuorum: fine\nRole: follower\nTerm: many\nTerm: 4\nTerm: 5\n"
      "Connections: ->1430 sideways\nServers:\n"
      "    1430 (1430 at tcp:127.0.0.1:16643) (witness) weight=3 last msg 4 ms ago (learner)\n"
      "    what is this\n");
  EXPECT_EQ(status.unknown_lines, (std::vector<std::string>{"Quorum: fine", "Term: many", "Term: 5",
                                                            "Connections: sideways"}));
  EXPECT_EQ(status.unknown_server_lines, std::vector<std::string>{"what is this"});
  EXPECT_EQ(status.term, 4U);
  ASSERT_EQ(status.servers.size(), 1U);
  EXPECT_EQ(status.servers[0].phase, "witness");
  EXPECT_EQ(status.servers[0].last_message_ms, 4U);
  EXPECT_EQ(status.servers[0].rest, "weight=3 ; (learner)");
  EXPECT_EQ(status.unknown_count, 6U);
  EXPECT_EQ(parse(format(status)), status);
}

TEST(RaftStatus, AValueThatIsHalfRightIsNone) {
  const std::vector<std::string> half = {"Election timer: soon",
                                         "Election timer: 1000 or so",
                                         "Election timer: 1000 (about 5)",
                                         "Log: [2, 5",
                                         "Log: 2, 5]",
                                         "Log: [two, 5]",
                                         "Log: [2, five]"};
  const RaftStatus status =
      parse(fmt::format("dea6\nRole: follower\nTerm: 1\n{}\n", fmt::join(half, "\n")));
  EXPECT_EQ(status.unknown_lines, half);
  EXPECT_FALSE(status.election_timer_ms);
  EXPECT_FALSE(status.election_timer_next_ms);
  EXPECT_FALSE(status.log);
}

TEST(RaftStatus, UnknownLinesAreCountedBeyondTheCap) {
  std::string text = "dea6\nRole: follower\nTerm: 1\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("Novelty {}\n", i);
  const RaftStatus status = parse(text);
  EXPECT_EQ(status.unknown_count, 1000U);
  EXPECT_EQ(status.unknown_lines.size(), 32U);
}

TEST(RaftStatus, ATruncatedStatusIsNotComplete) {
  const std::string whole = statuses_of("01-healthy.txt").at(0);
  const std::size_t header = whole.find("Servers:");
  EXPECT_FALSE(parse(whole.substr(0, header)).complete());
  EXPECT_TRUE(parse(whole).complete());
}

TEST(RaftStatus, WhatIsNoStatusIsRefused) {
  for (const std::string_view text :
       {"", "unknown cluster\n", "\"cluster/status\" is not a valid command\n", "[]", "{}",
        "{\"servers\":[]}", "{"}) {
    const Result<RaftStatus> status = parse_raft_status(text);
    ASSERT_FALSE(status.has_value()) << text;
    EXPECT_EQ(status.error().code, Errc::kProtocol) << text;
  }
}

TEST(RaftStatus, LimitsAreErrors) {
  const auto code = [](const std::string& text) { return parse_raft_status(text).error().code; };
  EXPECT_EQ(code(std::string((1 << 20) + 1, 'x')), Errc::kLimit);
  std::string servers = "Role: leader\nServers:\n";
  for (int i = 0; i < 1025; ++i) servers += " dea6 (dea6 at tcp:127.0.0.1:16641)\n";
  EXPECT_EQ(code(servers), Errc::kLimit);
  std::string links = "Role: leader\nConnections:";
  for (int i = 0; i < 4096; ++i) links += " ->dea6";
  EXPECT_EQ(parse_raft_status(links)->links.size(), 4096U);
  EXPECT_EQ(code(links + " ->dea6"), Errc::kLimit);
}

TEST(RaftStatus, ALineThatNeverClosesItsGroupsCostsNoMoreThanItsLength) {
  std::string text = "Role: leader\nTerm: 1\nServers:\n dea6 (dea6 at tcp:127.0.0.1:16641)";
  for (int i = 0; i < 100'000; ++i) text += " (a)b";
  const RaftStatus status = parse(text);  // quadratic work would take minutes
  EXPECT_EQ(status.servers.size(), 1U);
  EXPECT_EQ(status.unknown_count, 1U);
}

TEST(RaftStatus, WhatIsNotUnderstoodInJsonIsKeptAndCounted) {
  const RaftStatus status = parse(
      R"({"term":"three","connected":1,"servers":[)"
      R"({"sid":"77f0","address":"tcp:10.0.0.1:6643","weight":3,"lastMsgMs":1.5,"self":"yes"},)"
      R"({"sid":"nobody","address":"tcp:10.0.0.2:6643"},{"sid":"88a1"},7]})");
  EXPECT_EQ(
      status.unknown_lines,
      (std::vector<std::string>{R"("term": "three")", R"("connected": 1)", R"("weight": 3)",
                                R"("lastMsgMs": 1.5E0)", R"("self": "yes")", R"("sid": "nobody")",
                                R"("servers": {"sid":"nobody","address":"tcp:10.0.0.2:6643"})",
                                R"("servers": {"sid":"88a1"})", R"("servers": 7)"}));
  EXPECT_EQ(status.unknown_count, 9U);
  ASSERT_EQ(status.servers.size(), 1U) << "a server without an id or an address is none";
  EXPECT_FALSE(status.servers[0].self);
  EXPECT_FALSE(status.term);
  EXPECT_FALSE(status.connected);
}

TEST(RaftStatus, JsonBareAndUnderData) {
  constexpr std::string_view kBare =
      R"({"name":"OVN_Northbound","role":"leader","term":3,"index":41,"connected":true,"mood":"fine","servers":[)"
      R"({"sid":"77f0","address":"tcp:10.0.0.1:6643","role":"leader","self":true,"connected":true},)"
      R"({"sid":"88a1","address":"tcp:10.0.0.2:6643","lastMsgMs":12,"nextIndex":42,"matchIndex":41}]})";
  const RaftStatus status = parse(kBare);
  EXPECT_TRUE(status.complete());
  EXPECT_EQ(status.name, "OVN_Northbound");
  EXPECT_EQ(status.term, 3U);
  EXPECT_EQ(status.index, 41U);
  EXPECT_EQ(status.connected, true);
  ASSERT_EQ(status.servers.size(), 2U);
  EXPECT_TRUE(status.servers[0].self);
  EXPECT_EQ(status.servers[0].connected, true);
  EXPECT_EQ(status.servers[1].last_message_ms, 12U);
  EXPECT_EQ(status.servers[1].match_index, 41U);
  EXPECT_EQ(status.unknown_lines, std::vector<std::string>{R"("mood": "fine")"});
  EXPECT_EQ(parse(fmt::format(R"({{"data":{}}})", kBare)), status);
  EXPECT_EQ(parse(format(status)), status);
}

RC_GTEST_PROP(RaftStatus, MutatedCapturesParseToWhatTheirPrintParsesTo, ()) {
  static const std::string kText = statuses_of("14-stale-same-address.txt").at(0);
  std::string text = kText;
  const auto edits = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, kText.size()),
                    rc::gen::elementOf(std::string("\n\r -()<>:,=;09af\xa0\xc2"))));
  for (const auto& [at, byte] : edits) text[at] = byte;
  const Result<RaftStatus> status = parse_raft_status(text);
  if (!status ||
      status->unknown_count != status->unknown_lines.size() + status->unknown_server_lines.size())
    return;
  const Result<RaftStatus> again = parse_raft_status(format(*status));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *status);
}

// Found by the fuzzer: a word ended at ASCII white space only, so one that was kept as not
// understood carried a space that its own line lost when it was read again.
TEST(RaftStatus, AWordEndsAtAnyWhiteSpace) {
  const auto status = parse_raft_status("Connections:=\u0085 ->4");
  ASSERT_TRUE(status.has_value());
  const auto again = parse_raft_status(format(*status));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->unknown_lines, status->unknown_lines);
  EXPECT_EQ(again->links, status->links);
}

// Found by the fuzzer: `-` as a nickname was printed as a bullet and so lost when read again.
TEST(RaftStatus, ABulletIsNoNickname) {
  const auto status = parse_raft_status("Servers:\n-(c at t)");
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(status->servers.empty());
  ASSERT_EQ(status->unknown_server_lines, std::vector<std::string>{"-(c at t)"});
  EXPECT_EQ(*parse_raft_status(format(*status)), *status);
}

}  // namespace
}  // namespace wardmote::codec
