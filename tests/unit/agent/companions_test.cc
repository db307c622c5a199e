#include <gtest/gtest.h>

#include "agent/companions.h"

namespace wardmote::agent {
namespace {

config::Cluster cluster(std::string database, std::vector<std::string> members) {
  config::Cluster cluster;
  cluster.expectation.database = std::move(database);
  for (std::string& name : members) cluster.members.emplace_back().name = std::move(name);
  return cluster;
}

TEST(Companions, TheOnlyTwoBelongTogether) {
  const Companions companions(
      {cluster("OVN_Southbound", {"a", "b"}), cluster("OVN_Northbound", {"ctl-1", "ctl-2"})});
  EXPECT_EQ(companions.companion_of(0), std::nullopt) << "it is told with the northbound cluster";
  EXPECT_EQ(companions.companion_of(1), 0U);
}

TEST(Companions, OfSeveralDeploymentsByTheNamesOfTheMembers) {
  const Companions companions(
      {cluster("OVN_Northbound", {"a-1", "a-2"}), cluster("OVN_Northbound", {"b-1", "b-2"}),
       cluster("OVN_Southbound", {"b-2", "b-1"}), cluster("OVN_Southbound", {"a-1", "a-2"}),
       cluster("OVN_Northbound", {"c-1"})});
  EXPECT_EQ(companions.companion_of(0), 3U);
  EXPECT_EQ(companions.companion_of(1), 2U);
  EXPECT_EQ(companions.companion_of(4), std::nullopt);
}

TEST(Companions, TheInterconnectionDatabasesToo) {
  const Companions companions({cluster("OVN_IC_Northbound", {"a"}),
                               cluster("OVN_IC_Southbound", {"a"}),
                               cluster("OVN_Northbound", {"a"}), cluster("Open_vSwitch", {"a"})});
  EXPECT_EQ(companions.companion_of(0), 1U);
  EXPECT_EQ(companions.companion_of(2), std::nullopt);
}

}  // namespace
}  // namespace wardmote::agent
