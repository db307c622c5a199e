#include "judge/bgp/facts.h"

#include <gtest/gtest.h>

#include <chrono>

#include "judge/bgp/calico_name.h"
#include "judge/bgp/flaps.h"

namespace wardmote::judge::bgp {
namespace {

using namespace std::chrono_literals;

TEST(CalicoNames, TellTheNeighbour) {
  EXPECT_EQ(read_calico_name("Mesh_172_17_8_102"), (CalicoName{"Mesh", "172.17.8.102", 179}));
  EXPECT_EQ(read_calico_name("Node_10_9_1_3_port_1790"), (CalicoName{"Node", "10.9.1.3", 1790}));
  EXPECT_EQ(read_calico_name("Global_fd80_24e2__2"), (CalicoName{"Global", "fd80:24e2::2", 179}));
  EXPECT_EQ(read_calico_name("Mesh_2001_20__8"), (CalicoName{"Mesh", "2001:20::8", 179}));
}

TEST(CalicoNames, OthersAreNone) {
  for (const char* name : {"kernel1", "Meshd_172_17_8_102", "Local_Workload_10_9_1_10", "Mesh_", "",
                           "mesh_10_0_0_1"}) {
    EXPECT_FALSE(read_calico_name(name).has_value()) << name;
  }
}

TEST(SessionStates, ReadAsTheyAreWritten) {
  for (const SessionState state :
       {SessionState::kDown, SessionState::kPassive, SessionState::kIdle, SessionState::kConnect,
        SessionState::kActive, SessionState::kOpenSent, SessionState::kOpenConfirm,
        SessionState::kEstablished, SessionState::kClose}) {
    EXPECT_EQ(parse_session_state(to_string(state)), state);
  }
  EXPECT_EQ(parse_session_state("established"), SessionState::kUnknown);
}

BgpFacts one(SessionState state, Duration in_state) {
  BgpFacts facts;
  facts.sessions.emplace_back();
  facts.sessions[0].name = "a";
  facts.sessions[0].state = state;
  facts.sessions[0].in_state = in_state;
  return facts;
}

TEST(FlapCounter, CountsWhatItSeesAndWhatHappenedBetweenTwoLooks) {
  FlapCounter counter;
  const auto flaps_at = [&](Duration at, BgpFacts facts) {
    counter.count(facts, TimePoint(at));
    return facts.sessions[0].flaps;
  };
  EXPECT_EQ(flaps_at(0s, one(SessionState::kEstablished, 1h)), 0U);
  EXPECT_EQ(flaps_at(60s, one(SessionState::kEstablished, 1h + 60s)), 0U);
  EXPECT_EQ(flaps_at(120s, one(SessionState::kActive, 10s)), 1U) << "seen";
  EXPECT_EQ(flaps_at(180s, one(SessionState::kActive, 70s)), 1U);
  EXPECT_EQ(flaps_at(240s, one(SessionState::kEstablished, 30s)), 1U);
  EXPECT_EQ(flaps_at(300s, one(SessionState::kEstablished, 10s)), 2U) << "between two looks";
  EXPECT_EQ(flaps_at(301s, one(SessionState::kEstablished, 11s)), 2U);
}

}  // namespace
}  // namespace wardmote::judge::bgp
