#include "act/repair/testimony.h"

#include <gtest/gtest.h>

#include <string>

#include "act/repair/executor.h"
#include "judge/finding.h"
#include "judge/raft/member_id.h"

namespace wardmote::act::repair {
namespace {

const std::string kServer = "11112222-0000-4000-8000-000000000003";
const std::string kStranger = "aaaabbbb-0000-4000-8000-000000000009";
const std::string kCluster = "1a970000-0000-4000-8000-00000000000c";

class Testimony : public ::testing::Test {
 protected:
  Testimony() {
    deed_.plan.member = "ctl-3";
    deed_.plan.code = judge::Code::kRaftMemberDown;
    deed_.plan.server = *judge::raft::parse_member_id(kServer);
    deed_.cluster_id = *judge::raft::parse_member_id(kCluster);
  }
  /// Why the plan must not go on; empty: it may.
  std::string refusal(const std::string& output) {
    const Result<std::string> read = check_testimony(deed_, output);
    return read ? "" : read.error().describe();
  }
  static std::string line(const std::string& running, const std::string& server,
                          const std::string& cluster) {
    return R"({"running": )" + running + R"(, "server": ")" + server + R"(", "cluster": ")" +
           cluster + "\"}\n";
  }

  RepairRequest deed_;
};

TEST_F(Testimony, AServerThatDoesNotRunWithItsOwnFileMayBeRebuilt) {
  EXPECT_EQ(refusal("copied\n" + line("false", kServer, kCluster)), "");
}

// A firewall that resets connections, sockets that were moved away: the server ran all the while.
TEST_F(Testimony, AServerThatRunsIsNotRebuilt) {
  EXPECT_TRUE(
      refusal(line("true", kServer, kCluster)).contains("says that the server of ctl-3 runs"));
}

TEST_F(Testimony, OneThatIsStuckJoiningRuns) {
  deed_.plan.code = judge::Code::kRaftJoiningStuck;
  deed_.plan.server = {};
  deed_.plan.former = *judge::raft::parse_member_id(kServer);
  deed_.may_run = true;
  EXPECT_EQ(refusal(line("true", kServer, "")), "");
  EXPECT_EQ(refusal(line("true", "", "")), "");
}

// Seen on a real cluster: during the copy somebody stopped the server that joined, and started the
// one that was to be kicked, where the agent could not see it.
TEST_F(Testimony, WhatIsToBeKickedMustNotRun) {
  deed_.plan.code = judge::Code::kRaftJoiningStuck;
  deed_.plan.former = *judge::raft::parse_member_id(kStranger);
  deed_.may_run = true;
  EXPECT_TRUE(
      refusal(line("true", kServer, kCluster)).contains("1111 runs, which is to be kicked"));
  EXPECT_EQ(refusal(line("true", kStranger, "")), "") << "that is the one that joins";
  deed_.plan.code.reset();
  EXPECT_EQ(refusal(line("true", kServer, kCluster)), "") << "somebody asked for it by name";
}

TEST_F(Testimony, AReportThatContradictsItselfIsRefused) {
  const std::string twice = R"({"running": true, "running": false, "server": ")" + kServer +
                            R"(", "cluster": ")" + kCluster + "\"}";
  EXPECT_TRUE(refusal(twice).contains("its report says \"running\" twice"));
  const std::string good = line("false", kServer, kCluster);
  EXPECT_TRUE(refusal(line("true", kServer, kCluster) + good).contains("prints 2 reports"));
  EXPECT_TRUE(refusal(good + "\n" + good).contains("prints 2 reports"));
  EXPECT_EQ(refusal("{\"copied\": 5}\n[1]\nrunning\n" + good), "");
}

TEST_F(Testimony, TheFileOfAnotherServerIsKept) {
  EXPECT_TRUE(refusal(line("false", kStranger, kCluster))
                  .contains("is that of server " + kStranger + ", not of " + kServer));
}

// One digit of an id fits a sixteenth of all servers.
TEST_F(Testimony, APartOfAnIdProvesNothing) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{4}, kServer.size() - 1}) {
    EXPECT_TRUE(refusal(line("false", kServer.substr(0, length), kCluster)).contains("whole id"));
    EXPECT_TRUE(refusal(line("false", kServer, kCluster.substr(0, length))).contains("whole id"));
  }
}

// While nobody looked it was recovered as a cluster of its own, and got rows that no other has.
TEST_F(Testimony, TheFileOfAnotherClusterIsKept) {
  EXPECT_TRUE(refusal(line("false", kServer, kStranger)).contains("it may hold what no other has"));
}

TEST_F(Testimony, AFileThatCannotTellIsLost) {
  EXPECT_EQ(refusal(R"({"running": false, "server": null, "cluster": null})"), "");
  EXPECT_EQ(refusal(line("false", "", "00000000-0000-0000-0000-000000000000")), "");
}

TEST_F(Testimony, WhoSaysNothingLetsNothingHappen) {
  for (const std::string said :
       {"", "copied 5 bytes", "{}", R"({"running": "no"})", R"({"running": false})",
        R"({"running": false, "server": "x", "cluster": null})",
        R"({"running": false, "server": 5, "cluster": null})", "[1]", R"({"running": false)"}) {
    EXPECT_NE(refusal(said), "") << said;
  }
}

TEST_F(Testimony, OnlyTheLastLineCounts) {
  EXPECT_NE(refusal(line("false", kServer, kCluster) + "done\n"), "");
  EXPECT_NE(refusal(line("false", kServer, kCluster) + line("true", kServer, kCluster)), "");
}

}  // namespace
}  // namespace wardmote::act::repair
