// The lines of a recording, key by key. That whole recordings are judged again as they were is in
// tests/unit/cli/replay_test.cc.
#include "store/evidence.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/raft/member_id.h"

namespace wardmote::store {
namespace {

using judge::raft::Opinion;
using judge::raft::parse_member_id;
using judge::raft::Status;
using namespace std::chrono_literals;

/// One with a value of its own at every key.
Opinion full_opinion() {
  Opinion opinion;
  opinion.member = "ctl-1";
  opinion.control_command = {"ovn-appctl", "-t", "/run/\xff.ctl"};
  opinion.begun = TimePoint(10s);
  opinion.ended = TimePoint(11s);
  opinion.mode = judge::raft::Mode::kClustered;
  opinion.status_source = {{judge::ReasonCode::kNone, {}}};
  opinion.local_source = {{judge::ReasonCode::kHung, "no answer"}};
  Status status;
  status.nickname = "5b4b";
  status.cluster_id = *parse_member_id("11111111-2222-3333-4444-555555555555");
  status.server_id = *parse_member_id("5b4b");
  status.address = "tcp:192.0.2.1:6643";
  status.standing = judge::raft::Standing::kMember;
  status.role = judge::raft::Role::kLeader;
  status.term = 7;
  status.leader = {judge::raft::PeerName::Kind::kSelf, {}};
  status.vote = {judge::raft::PeerName::Kind::kNamed, "b8af"};
  status.election_started = 1200ms;
  status.election_won = 1100ms;
  status.election_reason = "timeout";
  status.election_timer = 2000ms;
  status.election_timer_next = 4000ms;
  status.log_start = 2;
  status.log_next = 18446744073709551615U;
  status.uncommitted = 1;
  status.unapplied = 3;
  status.disconnections = 4;
  status.links = {{"b8af", true, false}};
  judge::raft::Server server{.nickname = "b8af",
                             .id = *parse_member_id("b8af"),
                             .address = "tcp:192.0.2.2:6643",
                             .self = false};
  server.phase = judge::raft::Phase::kAddingCatchup;
  server.voted_for = "5b4b";
  server.next_index = 0;
  server.match_index = 9;
  server.last_message = 0ms;
  status.servers = {server};
  status.changes = {{true, server.id, server.address, judge::raft::Phase::kAddingCommitting}};
  status.join_remotes = {"tcp:192.0.2.3:6643"};
  opinion.status = status;
  opinion.local = judge::raft::Local{true, true, status.cluster_id, status.server_id, 11};
  opinion.serves = {"OVN_Southbound"};
  return opinion;
}

EvidenceLook look() {
  Opinion other;
  other.member = "ctl-2";
  return {TimePoint(12s), WallTime(480'000h), {full_opinion(), other}};
}

std::string replaced(std::string text, std::string_view before, std::string_view after) {
  const auto at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), after);
}

std::string why(std::string_view line) {
  const auto read = EvidenceReader().look(line);
  return read ? "" : read.error().describe();
}

TEST(Evidence, EveryKeyComesBackAsItWas) {
  const auto back = EvidenceReader().look(encode(look()));
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->judged, TimePoint(12s));
  EXPECT_EQ(back->at, WallTime(480'000h));
  ASSERT_EQ(back->opinions.size(), 2U);
  const Opinion& read = back->opinions[0];
  const Opinion wrote = full_opinion();
  EXPECT_EQ(read.member, wrote.member);
  EXPECT_EQ(read.control_command, wrote.control_command);
  EXPECT_EQ(read.begun, wrote.begun);
  EXPECT_EQ(read.ended, wrote.ended);
  EXPECT_EQ(read.mode, wrote.mode);
  EXPECT_EQ(read.status_source, wrote.status_source);
  EXPECT_EQ(read.local_source, wrote.local_source);
  EXPECT_EQ(read.status, wrote.status);
  EXPECT_EQ(read.local, wrote.local);
  EXPECT_EQ(read.serves, wrote.serves);
  EXPECT_FALSE(back->opinions[1].status);
  EXPECT_FALSE(back->opinions[1].local);
}

TEST(Evidence, TheHeadComesBackAsItWas) {
  const EvidenceHead head{.cluster = "nb",
                          .expectation = {.database = "OVN_Northbound",
                                          .addresses = {"tcp:192.0.2.1:6643"},
                                          .replicas = 3},
                          .every = 0s};
  EXPECT_EQ(EvidenceReader().head(encode(head)), head);
}

TEST(Evidence, WhatIsWrongIsNamedByItsPlace) {
  struct Row {
    const char* before;
    const char* after;
    const char* said;
  };
  const std::string good = encode(look());
  for (const Row& row : std::vector<Row>{
           {R"("begun_ns":10000000000)", R"("begun_ns":11000000001)",
            "opinions[0].ended_ns is not between"},
           // A century of leap years.
           {R"("begun_ns":10000000000)", R"("begun_ns":3162240000000000000)",
            "opinions[0].ended_ns is not between"},
           {R"("begun_ns":10000000000)", R"("begun_ns":3162240000000000001)",
            "begun_ns is not a whole number from 0 to 3162240000000000000"},
           {R"("ended_ns":11000000000)", R"("ended_ns":12000000001)",
            "opinions[0].ended_ns is not between"},
           {R"("links":[)", R"("links":7,"else":[)", "opinions[0].status.links is not a list"},
           {R"("links":[{)", R"("links":[7,{)", "opinions[0].status.links[0] is not an object"},
           {R"("outgoing":true)", R"("outgoing":1)", "links[0].outgoing is neither true nor false"},
           {R"("term":7)", R"("term":-7)", "status.term is not a whole number"},
           {R"("election_timer_ms":2000)", R"("election_timer_ms":-1)",
            "is not a whole number from 0 to 31622400000"},
           {R"("election_timer_ms":2000)", R"("election_timer_ms":31622400001)",
            "is not a whole number from 0"},
           {R"("hex":"2f)", R"("hex":"2)", "control_command[2].hex is half a byte too long"},
           {R"("hex":"2f)", R"("hex":"zz)", "control_command[2].hex is not hex"},
           {R"("member":"ctl-1")", R"("member":{})", "opinions[0].member is not a text"},
           {R"("server_id":"5b4b")", R"("server_id":"nobody")", "status.server_id is not an id"},
           {R"("role":"leader")", R"("role":"king")", "status.role is none of the known words"},
           {R"("serves":[)", R"("serve":[)", "opinions[0].serves is missing"},
           {R"("opinions":[{)", R"("opinions":[],"else":[{)", "opinions has nobody in it"},
           {R"("member":"ctl-2")", R"("member":"ctl-1")", "opinions has a member twice"}}) {
    EXPECT_TRUE(why(replaced(good, row.before, row.after)).contains(row.said))
        << row.after << ": " << why(replaced(good, row.before, row.after));
  }
  EXPECT_TRUE(why("[]").contains("not an object of JSON"));
  EXPECT_TRUE(why("{").contains("not an object of JSON"));
  EXPECT_TRUE(why(std::string(kEvidenceLineBytes + 1, ' ')).contains("a line of more than 16 MiB"));
}

TEST(Evidence, TheLooksOfAFileAreOfTheSameMembersInTheOrderOfTime) {
  EvidenceReader reader;
  ASSERT_TRUE(reader.look(encode(look())));
  ASSERT_TRUE(reader.look(encode(look()))) << "at the same moment";
  EvidenceLook before = look();
  before.judged -= 1ns;
  EXPECT_FALSE(reader.look(encode(before)));
  EvidenceLook stranger = look();
  stranger.opinions[1].member = "ctl-3";
  EXPECT_FALSE(reader.look(encode(stranger)));
  EvidenceLook fewer = look();
  fewer.opinions.pop_back();
  EXPECT_FALSE(reader.look(encode(fewer)));
}

TEST(Evidence, AHeadOfAnotherVersionOrOfAnotherFileIsRefused) {
  const std::string head = encode(EvidenceHead{.cluster = "nb"});
  EXPECT_FALSE(EvidenceReader().head(
      replaced(head, R"("wardmote_evidence":1)", R"("wardmote_evidence":2)")));
  EXPECT_FALSE(EvidenceReader().head(R"({"cluster":"nb"})"));
}

}  // namespace
}  // namespace wardmote::store
