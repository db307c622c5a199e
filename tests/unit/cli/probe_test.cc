#include <gtest/gtest.h>

#include <chrono>

#include "cli/observation_json.h"
#include "cli/probe_params.h"
#include "cli/render/observation.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using observe::ParamSpec;
using observe::ParamType;
using observe::ParamValue;

constexpr Style kPlain{.color = false};

constexpr ParamSpec kParams[] = {{"control", ParamType::kEndpoint, true, ""},
                                 {"idle_time", ParamType::kDuration, false, ""},
                                 {"tries", ParamType::kInteger, false, ""},
                                 {"argv", ParamType::kList, false, ""},
                                 {"deep", ParamType::kFlag, false, ""}};
constexpr observe::ProbeKind kFakeKind{"fake", "", kParams, nullptr};
const Command kCommand{.name = "fake", .summary = ""};

Result<observe::Params> params(Call::Values values) {
  return probe_params(kFakeKind, Call({&kCommand}, std::move(values)));
}

TEST(ProbeParams, HaveTheTypesOfTheirSpecs) {
  const observe::Params given = params({{"TARGET", {"/run/x.ctl"}},
                                        {"idle-time", {"5s"}},
                                        {"tries", {"3"}},
                                        {"argv", {"ssh", "ctl-2"}},
                                        {"deep", {}}})
                                    .value();
  EXPECT_EQ(given.at("control"), ParamValue(std::string("/run/x.ctl")));
  EXPECT_EQ(given.at("idle_time"), ParamValue(Duration(5s)));
  EXPECT_EQ(given.at("tries"), ParamValue(std::int64_t{3}));
  EXPECT_EQ(given.at("argv"), ParamValue(std::vector<std::string>{"ssh", "ctl-2"}));
  EXPECT_EQ(given.at("deep"), ParamValue(true));
}

TEST(ProbeParams, LeaveOutWhatWasNotGiven) {
  EXPECT_EQ(params({{"TARGET", {"/run/x.ctl"}}})->size(), 1U);
}

TEST(ProbeParams, SayWhichIsWrong) {
  EXPECT_FALSE(params({{"TARGET", {"no endpoint"}}}).has_value());
  EXPECT_TRUE(params({{"idle-time", {"soon"}}}).error().context.contains("idle-time"));
  EXPECT_TRUE(params({{"tries", {"x"}}}).error().context.contains("tries"));
}

judge::Observation seen(judge::Facts facts) {
  judge::Observation observation;
  observation.subject = "10.0.0.5:6641";
  observation.outcome = judge::Outcome::kOk;
  observation.facts = std::move(facts);
  observation.begun = TimePoint(1s);
  observation.ended = TimePoint(1s + 1500us);
  return observation;
}

TEST(Observation, OfATcpConnect) {
  const json::value written = to_json("tcp", seen(judge::TcpFacts{1400us}));
  EXPECT_EQ(written.at("outcome"), "ok");
  EXPECT_TRUE(written.at("reason").is_null());
  EXPECT_EQ(written.at("took_us"), 1500);
  EXPECT_EQ(written.at("facts"), (json::object{{"connect_us", 1400}}));
  EXPECT_EQ(draw_observation(written, kPlain),
            "ok  tcp 10.0.0.5:6641  (1.5 ms)\n  connect_us: 1400\n");
}

TEST(Observation, OfARaftMemberIsAMemberOfTheApi) {
  judge::raft::Opinion opinion;
  opinion.member = "ctl-1";
  opinion.status.emplace();
  opinion.status->role = judge::raft::Role::kLeader;
  opinion.status->term = 7;
  opinion.status->servers = {{.nickname = "7770", .address = "tcp:10.0.0.1:6643", .self = true}};
  const json::value written = to_json("ovn", seen(opinion));
  EXPECT_EQ(written.at("facts").at("name"), "ctl-1");
  EXPECT_EQ(written.at("facts").at("outcome"), "ok");
  EXPECT_EQ(written.at("facts").at("term"), 7);
  const std::string drawn = draw_observation(written, kPlain);
  EXPECT_TRUE(drawn.contains("\n7770 (self)  -   tcp:10.0.0.1:6643  ")) << drawn;
}

TEST(Observation, OfABgpDaemonIsATableOfItsSessions) {
  judge::bgp::BgpFacts facts;
  facts.version = "BIRD 2.0.12";
  facts.router_id = "10.9.1.1";
  facts.up_for = 16s;
  facts.restart = judge::bgp::GracefulRestart{2, 238s, 240s};
  judge::bgp::Session up;
  up.name = "Mesh_10_9_1_2";
  up.address = "10.9.1.2";
  up.remote_as = 64512;
  up.state = judge::bgp::SessionState::kEstablished;
  up.routes = judge::bgp::Routes{2, 4};
  up.in_state = 14s;
  judge::bgp::Session disabled;
  disabled.name = "Node_10_9_1_9";
  disabled.admin_down = true;
  disabled.last_error = "\x1b[2J";
  facts.sessions = {up, disabled};
  const json::value written = to_json("bird", seen(facts));
  const json::value& peer = written.at("facts").at("peers").at(0);
  EXPECT_EQ(peer.at("state"), "Established");
  EXPECT_EQ(peer.at("imported"), 2);
  EXPECT_EQ(peer.at("in_state_ms"), 14000);
  EXPECT_TRUE(peer.at("local_as").is_null());
  EXPECT_EQ(written.at("facts").at("graceful_restart").at("left_ms"), 238000);
  const std::string drawn = draw_observation(written, kPlain);
  EXPECT_TRUE(
      drawn.contains("BIRD 2.0.12, router id 10.9.1.1, up 16.0s, graceful restart (3m58s of "
                     "4m00s left)"))
      << drawn;
  EXPECT_TRUE(drawn.contains("Mesh_10_9_1_2  10.9.1.2  64512  Established  14.0s  2 in, 4 out  0"))
      << drawn;
  EXPECT_TRUE(drawn.contains("disabled")) << drawn;
  EXPECT_FALSE(drawn.contains('\x1b'));
}

TEST(Observation, OfASilentMemberIsOneLine) {
  judge::Observation observation = seen(judge::raft::Opinion{});
  observation.outcome = judge::Outcome::kFail;
  observation.reason = {judge::ReasonCode::kRefused, "refused \x1b[2J"};
  EXPECT_EQ(draw_observation(to_json("ovn", observation), kPlain),
            "fail  ovn 10.0.0.5:6641: refused \\x1b[2J  (1.5 ms)\n");
}

}  // namespace
}  // namespace wardmote::cli
