#include <gtest/gtest.h>

#include "agent/ovn/nb_sb_pairing.h"

namespace wardmote::agent {
namespace {

config::Cluster cluster(std::string database, std::vector<std::string> members) {
  config::Cluster cluster;
  cluster.expectation.database = std::move(database);
  for (std::string& name : members) cluster.members.emplace_back().name = std::move(name);
  return cluster;
}

TEST(NbSbPairing, TheOnlyTwoBelongTogether) {
  const NbSbPairing pairing(
      {cluster("OVN_Southbound", {"a", "b"}), cluster("OVN_Northbound", {"ctl-1", "ctl-2"})});
  EXPECT_EQ(pairing.companion_of(0), std::nullopt) << "it is told with the northbound cluster";
  EXPECT_EQ(pairing.companion_of(1), 0U);
}

TEST(NbSbPairing, OfSeveralDeploymentsByTheNamesOfTheMembers) {
  const NbSbPairing pairing(
      {cluster("OVN_Northbound", {"a-1", "a-2"}), cluster("OVN_Northbound", {"b-1", "b-2"}),
       cluster("OVN_Southbound", {"b-2", "b-1"}), cluster("OVN_Southbound", {"a-1", "a-2"}),
       cluster("OVN_Northbound", {"c-1"})});
  EXPECT_EQ(pairing.companion_of(0), 3U);
  EXPECT_EQ(pairing.companion_of(1), 2U);
  EXPECT_EQ(pairing.companion_of(4), std::nullopt);
}

TEST(NbSbPairing, TheInterconnectionDatabasesToo) {
  const NbSbPairing pairing({cluster("OVN_IC_Northbound", {"a"}),
                             cluster("OVN_IC_Southbound", {"a"}), cluster("OVN_Northbound", {"a"}),
                             cluster("Open_vSwitch", {"a"})});
  EXPECT_EQ(pairing.companion_of(0), 1U);
  EXPECT_EQ(pairing.companion_of(2), std::nullopt);
}

}  // namespace
}  // namespace wardmote::agent
