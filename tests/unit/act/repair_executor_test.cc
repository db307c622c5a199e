#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/plan/step_executor.h"
#include "act/repair/executor.h"
#include "base/result.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/thing.h"
#include "runtime/endpoint.h"
#include "runtime/process.h"
#include "sim/fake_member.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::act::repair {
namespace {

using judge::raft::repair::StepKind;
using judge::raft::repair::Work;
using namespace std::chrono_literals;
using Performance = sim::SimRuntime::Performance;

const std::string kServer = "11112222-0000-4000-8000-000000000003";

class RepairHands : public ::testing::Test {
 protected:
  RepairHands() {
    deed_.plan.id = 3;
    deed_.plan.target = {judge::ThingKind::kCluster, "ovn-nb"};
    deed_.plan.work = Work::kRebuildMember;
    deed_.plan.database = "OVN_Northbound";
    deed_.plan.member = "ctl-3";
    deed_.plan.server = *judge::raft::parse_member_id(kServer);
    deed_.plan.address = "tcp:10.0.0.3:6643";
    deed_.leader = "ctl-1";
    deed_.remotes = {"tcp:10.0.0.1:6643"};
    ways_.copy = {"/copy", "-v"};
    ways_.rejoin = {"/rejoin"};
    ways_.timeout = 20s;
    leader_.control_command = {"/ssh", "ctl-1", "ovn-appctl"};
  }
  /// The program that is run as argv[0], which ends like this.
  void install(const std::string& argv0, int status, std::string out, std::string error = "",
               Duration takes = 1s) {
    host_.install(argv0, [this, status, out, error, takes](const runtime::ProcessSpec& spec) {
      ran_.push_back(spec);
      return Performance{takes, runtime::ProcessExit{status, out, error}};
    });
  }
  Result<std::string> act(StepKind kind) {
    OvnExecutor executor(host_, {{"ovn-nb", {{"ctl-1", leader_}, {"ctl-3", ways_}}}});
    StepRequest request{deed_.plan.stored(), std::string(to_string(kind)), {}};
    request.moment["leader"] = deed_.leader;
    for (const std::string& remote : deed_.remotes) request.moment["remotes"] += remote + " ";
    request.moment["may_run"] = deed_.may_run ? "true" : "false";
    request.confirm = deed_.report_only;
    return run_task(world_, host_, executor.act(std::move(request), host_.deadline_in(1h)));
  }

  /// What the last command was told.
  boost::json::object told() const {
    return boost::json::parse(ran_.back().standard_input).as_object();
  }

  sim::World world_{1};
  sim::SimRuntime& host_ = world_.host("us");
  RepairRequest deed_;
  MemberWays ways_;
  MemberWays leader_;
  std::vector<runtime::ProcessSpec> ran_;
};

TEST_F(RepairHands, ACommandIsToldWhatToDoOnStandardInput) {
  const std::string testimony =
      R"({"running": false, "server": ")" + kServer + R"(", "cluster": null})";
  install("/copy", 0, "copied 5 bytes\n" + testimony + "\n");
  EXPECT_EQ(act(StepKind::kCopyDatabase).value_or(""), testimony);
  ASSERT_EQ(ran_.size(), 1U);
  EXPECT_EQ(ran_[0].argv, (std::vector<std::string>{"/copy", "-v"}));
  const auto told = boost::json::parse(ran_[0].standard_input).as_object();
  EXPECT_EQ(told.at("step").as_string(), "copy_database");
  EXPECT_EQ(told.at("server").as_string(), kServer);
  EXPECT_EQ(told.at("remotes").as_array().size(), 1U);
  install("/rejoin", 0, "");
  EXPECT_EQ(act(StepKind::kRejoin).value_or(""), "/rejoin ended well");
  EXPECT_EQ(ran_[1].argv, (std::vector<std::string>{"/rejoin"}));
}

TEST_F(RepairHands, WhereACopyIsYoungTheHostOnlyReports) {
  const std::string testimony = R"({"running": false, "server": null, "cluster": null})";
  install("/copy", 0, testimony);
  install("/report", 0, testimony);
  deed_.report_only = true;
  EXPECT_EQ(act(StepKind::kCopyDatabase).value_or(""), testimony);
  EXPECT_EQ(ran_.back().argv.front(), "/copy") << "there is no other command";
  EXPECT_EQ(told().at("step").as_string(), "copy_database");
  ways_.report = {"/report", "now"};
  EXPECT_EQ(act(StepKind::kCopyDatabase).value_or(""), testimony);
  EXPECT_EQ(ran_.back().argv, (std::vector<std::string>{"/report", "now"}));
  EXPECT_EQ(told().at("step").as_string(), "report");
  deed_.report_only = false;
  act(StepKind::kCopyDatabase);
  EXPECT_EQ(ran_.back().argv.front(), "/copy");
  install("/report", 0, R"({"running": true, "server": null, "cluster": null})");
  deed_.report_only = true;
  deed_.plan.code = judge::Code::kRaftMemberDown;
  EXPECT_FALSE(act(StepKind::kCopyDatabase)) << "a server runs there";
}

TEST_F(RepairHands, ACommandIsToldWhetherTheServerMayRun) {
  install("/rejoin", 0, "");
  for (const bool may_run : {false, true}) {
    deed_.may_run = may_run;
    act(StepKind::kRejoin);
    EXPECT_EQ(told().at("may_run").as_bool(), may_run);
  }
}

// A rejoin that was told `report` reported, and the member was never brought back.
TEST_F(RepairHands, EachCommandIsToldItsOwnStep) {
  install("/copy", 0, R"({"running": false, "server": null, "cluster": null})");
  install("/report", 0, R"({"running": false, "server": null, "cluster": null})");
  install("/rejoin", 0, "");
  ways_.report = {"/report"};
  for (const bool confirm : {false, true}) {
    deed_.report_only = confirm;
    act(StepKind::kCopyDatabase);
    EXPECT_EQ(told().at("step").as_string(), confirm ? "report" : "copy_database");
    act(StepKind::kRejoin);
    EXPECT_EQ(told().at("step").as_string(), "rejoin");
    EXPECT_EQ(ran_.back().argv.front(), "/rejoin");
  }
}

TEST_F(RepairHands, AKickByCommandNamesTheWholeId) {
  install("/ssh", 0, "started removal\n");
  EXPECT_EQ(act(StepKind::kKick).value_or(""), "started removal");
  EXPECT_EQ(ran_[0].argv, (std::vector<std::string>{"/ssh", "ctl-1", "ovn-appctl", "cluster/kick",
                                                    "OVN_Northbound", kServer}));
  deed_.plan.server = *judge::raft::parse_member_id("1111");
  act(StepKind::kKick);
  EXPECT_EQ(ran_[1].argv.back(), "1111");
}

TEST_F(RepairHands, AStatusOfNotNullSaysNothingOfWhatWasDone) {
  for (const int status : {1, 127, 137, 255}) {
    install("/ssh", status, "started removal", "connection lost");
    const auto did = act(StepKind::kKick);
    ASSERT_FALSE(did);
    EXPECT_FALSE(was_never_begun(did.error())) << status;
    EXPECT_NE(did.error().describe().find(std::to_string(status) + ": connection lost"),
              std::string::npos)
        << did.error().describe();
  }
}

TEST_F(RepairHands, WhatDoesNotEndInTimeMayHaveBeenDone) {
  install("/ssh", 0, "", "", 1h);
  const auto kicked = act(StepKind::kKick);
  ASSERT_FALSE(kicked);
  EXPECT_EQ(kicked.error().code, Errc::kTimeout);
  EXPECT_FALSE(was_never_begun(kicked.error()));
  install("/rejoin", 0, "", "", 19s);
  EXPECT_TRUE(act(StepKind::kRejoin));
  install("/rejoin", 0, "", "", 21s);
  EXPECT_FALSE(act(StepKind::kRejoin)) << "its own time is over";
}

TEST_F(RepairHands, AProgramThatIsNotThereWasNeverBegun) {
  const auto copied = act(StepKind::kCopyDatabase);
  ASSERT_FALSE(copied);
  EXPECT_TRUE(was_never_begun(copied.error())) << copied.error().describe();
}

TEST_F(RepairHands, WithoutAWayNothingIsBegun) {
  ways_.copy.clear();
  deed_.leader = "ctl-9";
  for (const StepKind kind : {StepKind::kCopyDatabase, StepKind::kKick}) {
    const auto did = act(kind);
    ASSERT_FALSE(did);
    EXPECT_EQ(did.error().code, Errc::kInvalid);
  }
  leader_.control_command.clear();
  deed_.leader = "ctl-1";
  EXPECT_EQ(act(StepKind::kKick).error().code, Errc::kInvalid);
  deed_.plan.target.name = "ovn-sb";
  EXPECT_EQ(act(StepKind::kKick).error().code, Errc::kInvalid);
}

TEST_F(RepairHands, TextFromOutsideIsEscaped) {
  install("/rejoin", 0, "a\x1b[31mb\n");
  EXPECT_EQ(act(StepKind::kRejoin).value_or(""), "a\\x1b[31mb");
}

/// An ovsdb-server of fakes whose control socket the leader has.
class RepairByControlSocket : public RepairHands {
 protected:
  RepairByControlSocket() {
    leader_.control_command.clear();
    leader_.control = control_;
  }

  const runtime::Endpoint control_ = *runtime::parse_endpoint("unix:/x.ctl");
  sim::FakeMember server_{world_.process("server", "us"), control_,
                          *runtime::parse_endpoint("unix:/x.sock")};
};

TEST_F(RepairByControlSocket, AKickIsSpokenNatively) {
  server_.start({.results = {{"cluster/kick", "\"started removal\""}}});
  EXPECT_EQ(act(StepKind::kKick).value_or(""), "started removal");
}

TEST_F(RepairByControlSocket, NewerServersWrapTheirReply) {
  server_.start({.results = {{"cluster/kick", R"({"reply":"started removal"})"}}});
  EXPECT_EQ(act(StepKind::kKick).value_or(""), "started removal");
}

TEST_F(RepairByControlSocket, AnAnswerThatIsNoTextSaysThatItWasTold) {
  server_.start({.results = {{"cluster/kick", "7"}}});
  EXPECT_EQ(act(StepKind::kKick).value_or(""), "it was told");
}

TEST_F(RepairByControlSocket, ARefusalOfTheServerIsLookedAtToo) {
  server_.start({.raw = R"({"id":{ID},"result":null,"error":"unknown server"})"});
  const auto kicked = act(StepKind::kKick);
  ASSERT_FALSE(kicked);
  EXPECT_FALSE(was_never_begun(kicked.error()));
  EXPECT_NE(kicked.error().describe().find("unknown server"), std::string::npos);
}

TEST_F(RepairByControlSocket, WhoHangsUpOrStaysSilentMayHaveDoneIt) {
  for (const int closes_after : {1, -1}) {
    server_.start({.closes_after = closes_after});
    const auto kicked = act(StepKind::kKick);
    ASSERT_FALSE(kicked);
    EXPECT_FALSE(was_never_begun(kicked.error())) << kicked.error().describe();
    server_.crash();
  }
}

TEST_F(RepairByControlSocket, NobodyThereWasNotTold) {
  const auto kicked = act(StepKind::kKick);
  ASSERT_FALSE(kicked);
  EXPECT_TRUE(was_never_begun(kicked.error())) << kicked.error().describe();
}

}  // namespace
}  // namespace wardmote::act::repair
