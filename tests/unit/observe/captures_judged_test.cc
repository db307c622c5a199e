// Real clusters in trouble (tests/data/ovn), parsed and judged whole: the truth about each is known
// from how it was made.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "codec/raft_status.h"
#include "judge/raft/assess.h"
#include "judge/raft/history.h"
#include "judge/raft/memory.h"
#include "judge/verdict.h"
#include "observe/ovn/convert.h"
#include "support/captured_opinions.h"
#include "support/ovn_captures.h"

namespace wardmote::observe::ovn {
namespace {

using namespace std::chrono_literals;
using judge::Finding;
using judge::raft::Assessment;
using judge::raft::Opinion;

using Told = std::vector<std::string>;

/// The captures judged one after the other, once a second for `time` each; as many voters as there
/// are members were expected unless told.
Assessment judge_captures(const std::vector<std::string_view>& captures, Duration time = 60s,
                          std::size_t expected = 3) {
  const judge::raft::Expectation expectation{
      .database = "OVN_Northbound", .addresses = {}, .replicas = expected};
  judge::raft::Memory memory;
  Assessment last;
  TimePoint start(1h);
  for (const std::string_view capture : captures) {
    const std::vector<Opinion> opinions = testing::opinions_in(testing::read_capture(capture));
    for (Duration elapsed{}; elapsed <= time; elapsed += 1s) {
      const TimePoint begun = start + elapsed;
      last = assess(testing::later(opinions, begun, elapsed), expectation, memory, begun + 1ms);
    }
    start += time + 1s;
  }
  return last;
}

Assessment judge_capture(std::string_view capture, Duration time = 60s, std::size_t expected = 3) {
  return judge_captures({capture}, time, expected);
}

Told told(const Assessment& assessment) {
  Told all;
  for (const Finding& finding : assessment.findings) {
    std::string line(to_string(finding.code));
    if (!finding.subjects.empty()) line += " " + finding.subjects.front();
    all.push_back(std::move(line));
  }
  return all;
}

TEST(CapturesJudged, ATimerOfAgesOverflowsNoWindow) {
  codec::RaftStatus told;
  told.election_timer_ms = ~std::uint64_t{0};
  const judge::raft::Milliseconds timer = to_status(told).election_timer;
  EXPECT_GT(judge::raft::flap_window(timer), Duration(timer)) << "thirty rounds of it";
}

TEST(CapturesJudged, AHealthyClusterIsQuiet) {
  for (const char* capture : {"01-healthy.txt", "07-rejoined.txt", "41-v35-healthy.txt"}) {
    const Assessment judged = judge_capture(capture);
    EXPECT_EQ(told(judged), Told{}) << capture;
    EXPECT_EQ(judged.verdict, judge::Verdict::kOk);
    EXPECT_EQ(judged.quorum.live, 3U);
  }
}

TEST(CapturesJudged, AKilledLeader) {
  EXPECT_EQ(told(judge_capture("05-leader-killed.txt")),
            (Told{"RAFT_MEMBER_DOWN m1", "RAFT_QUORUM_MARGIN"}));
}

TEST(CapturesJudged, AStoppedMember) {
  EXPECT_EQ(told(judge_capture("08-follower-stopped.txt")),
            (Told{"RAFT_MEMBER_HUNG m2", "RAFT_QUORUM_MARGIN"}));
  EXPECT_EQ(told(judge_capture("08b-follower-cont.txt", 3s)), Told{}) << "it goes on";
}

TEST(CapturesJudged, TwoOfThreeDead) {
  for (const auto& [capture, survivor] : {std::pair("10-noquorum-follower-survivor.txt", 3),
                                          std::pair("11-noquorum-leader-survivor.txt", 1)}) {
    const Assessment judged = judge_capture(capture);
    Told expected{"RAFT_NO_QUORUM"};
    for (int member = 1; member <= 3; ++member) {
      if (member != survivor) expected.push_back(fmt::format("RAFT_MEMBER_DOWN m{}", member));
    }
    EXPECT_EQ(told(judged), expected) << capture;
    EXPECT_EQ(judged.quorum.live, 1U);
  }
}

TEST(CapturesJudged, TwoOfThreeDeadSeenOnlyByTheSurvivor) {
  EXPECT_EQ(told(judge_capture("44-v35-noquorum.txt")), Told{"RAFT_NO_LEADER"})
      << "the same as what a member sees that is cut off from two others who go on without it";
}

TEST(CapturesJudged, AGhostAtALiveAddress) {
  const Assessment judged = judge_capture("14-stale-same-address.txt");
  EXPECT_EQ(told(judged),
            (Told{"RAFT_STALE_MEMBER 1430", "RAFT_QUORUM_MARGIN", "RAFT_CLUSTER_SIZE"}));
  const Finding& ghost = judged.findings.front();
  EXPECT_EQ(ghost.evidence[0].by, "m2");
  EXPECT_EQ(ghost.evidence[0].says.substr(0, 66),
            "1430 (1430 at tcp:127.0.0.1:16643) next_index=54 match_index=52 la");
  EXPECT_EQ(ghost.evidence[1].says,
            "Server ID: d8d1 (d8d142e3-c38f-46e8-ae36-3db41907e3ae); Address: tcp:127.0.0.1:16643; "
            "Status: cluster member");
  EXPECT_TRUE(ghost.advice->command.empty()) << "nobody saw that it ended before";
  EXPECT_EQ(judge_capture("14-stale-same-address.txt", 10min).findings.front().advice->command,
            (std::vector<std::string>{"ovn-appctl", "-t", "m2.ctl", "cluster/kick",
                                      "OVN_Northbound", "1430"}));
  EXPECT_EQ(judged.members[2].reason.text, "stale-server-id (is d8d1, known as 1430)");
}

TEST(CapturesJudged, KickedButRunning) {
  EXPECT_EQ(told(judge_captures({"01-healthy.txt", "17-kicked-still-running.txt"})),
            (Told{"RAFT_MEMBER_REMOVED m1", "RAFT_CLUSTER_SIZE"}));
}

TEST(CapturesJudged, WhoWasNeverSeenAsAMemberWasNotProvedToBeRemoved) {
  EXPECT_EQ(told(judge_capture("17-kicked-still-running.txt")),
            (Told{"RAFT_NO_DATABASE m1", "RAFT_CLUSTER_SIZE"}));
  EXPECT_EQ(told(judge_capture("24-left-and-even-size.txt")),
            (Told{"RAFT_NO_DATABASE m4", "RAFT_CLUSTER_SIZE"}));
}

TEST(CapturesJudged, KickedWhileDownAndRestarted) {
  EXPECT_EQ(told(judge_capture("18-kicked-while-down-restarted.txt", 60s, 4)),
            (Told{"RAFT_ZOMBIE_MEMBER m1", "RAFT_CLUSTER_SIZE"}))
      << "its term is higher than the cluster's, and its list is old";
}

TEST(CapturesJudged, APartitionedLeader) {
  const Assessment early = judge_capture("20a-leader-partitioned-1s.txt", 0s);
  EXPECT_EQ(told(early), Told{}) << "two leaders in different terms are legal for a while";
  ASSERT_EQ(early.observed.size(), 1U);
  EXPECT_EQ(to_string(early.observed[0].code), "RAFT_STALE_LEADER");
  EXPECT_EQ(told(judge_capture("20-leader-partitioned.txt")),
            (Told{"RAFT_QUORUM_MARGIN", "RAFT_TERM_DIVERGENCE m1"}));
}

TEST(CapturesJudged, AnotherClusterAtAMembersAddress) {
  const Assessment judged = judge_capture("29-split-brain-cid-mismatch.txt");
  EXPECT_EQ(told(judged),
            (Told{"RAFT_CLUSTER_ID_MISMATCH m3", "RAFT_QUORUM_MARGIN", "RAFT_DEAD_MEMBER 1959"}));
  EXPECT_EQ(told(judge_capture("29-split-brain-cid-mismatch.txt", 0s)),
            Told{"RAFT_CLUSTER_ID_MISMATCH m3"});
}

TEST(CapturesJudged, JoiningThroughAddressesWhereNobodyIs) {
  EXPECT_EQ(told(judge_capture("22-joining-stuck.txt", 29s)), Told{});
  EXPECT_EQ(told(judge_capture("22-joining-stuck.txt")), Told{"RAFT_JOINING_STUCK m4"});
}

TEST(CapturesJudged, AMemberThatIsBeingAddedIsNoVoter) {
  const Assessment judged = judge_capture("32-adding-phase.txt", 3s);
  EXPECT_EQ(told(judged), Told{});
  EXPECT_EQ(judged.quorum.voters, 3U);
}

TEST(CapturesJudged, AnInboundPortThatIsShut) {
  const Assessment judged = judge_capture("19-asymmetric-inbound-blocked.txt");
  EXPECT_EQ(told(judged), Told{"RAFT_LINK_ASYMMETRIC m3"});
  const Finding& link = judged.findings.front();
  EXPECT_EQ(link.summary,
            "m1 (cec1), m2 (2e3d) cannot connect to m3 (e830), which connects to them");
  ASSERT_EQ(link.evidence.size(), 3U);
  EXPECT_EQ(link.evidence[0].says, "Connections: <-2e3d ->2e3d <-e830 (->e830)");
  EXPECT_EQ(link.evidence[2].says, "Address: tcp:10.77.0.3:6643; Connections: ->0000 ->2e3d");
}

TEST(CapturesJudged, AFullDisk) {
  const Assessment judged = judge_capture("35-failed-disk-full.txt", 0s, 1);
  EXPECT_EQ(told(judged), Told{"RAFT_FAILED_LEADER m4"});
  EXPECT_FALSE(judged.leader);
}

TEST(CapturesJudged, NotAClusterAtAll) {
  EXPECT_EQ(told(judge_capture("27-standalone.txt")), Told{"RAFT_MODE_MISMATCH m4"});
  EXPECT_EQ(told(judge_capture("28-relay.txt")), Told{"RAFT_MODE_MISMATCH m4"});
}

TEST(CapturesJudged, SmallClusters) {
  EXPECT_EQ(told(judge_capture("26-single-member.txt", 60s, 1)), Told{"RAFT_CLUSTER_SIZE"});
  const Assessment nicknames = judge_capture("34-unix-nicknames.txt", 60s, 2);
  EXPECT_EQ(told(nicknames), Told{"RAFT_CLUSTER_SIZE"});
  EXPECT_EQ(nicknames.members[1].outcome, judge::Outcome::kOk) << "it names its leader alpha";
}

TEST(CapturesJudged, NoCaptureIsAdvisedAgainstALiveMember) {
  for (const std::string& capture : testing::capture_names()) {
    const std::vector<Opinion> opinions = testing::opinions_in(testing::read_capture(capture));
    if (opinions.empty()) continue;
    for (const Finding& finding : judge_capture(capture).findings) {
      if (!finding.advice || finding.advice->command.empty()) continue;
      const auto target = judge::raft::parse_member_id(finding.advice->command.back());
      for (const Opinion& opinion : opinions) {
        EXPECT_FALSE(compatible(opinion.server_id(), *target))
            << capture << ": " << finding.summary;
      }
    }
  }
}

}  // namespace
}  // namespace wardmote::observe::ovn
