#pragma once
// What tests of removals ask of a cluster.

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/finding.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {

inline const std::string kStranger = "7b3a0000-dac6-4762-a00e-834c7c7479df";
inline const std::string kSuccessor = "d8d142e3-c38f-46e8-ae36-3db41907e3ae";

/// Nothing that anybody reads or that a plan asks says to remove the server with these four digits.
inline void expect_spared(FakeCluster& cluster, const Assessment& look, const std::string& id) {
  for (const Finding& finding : look.findings) {
    const std::vector<std::string>& command = finding.advice->command;
    EXPECT_TRUE(command.empty() || !command.back().starts_with(id)) << finding.summary;
    EXPECT_FALSE(finding.advice->text.contains("Kick " + id)) << finding.advice->text;
  }
  const RepairView view = cluster.repair_view();
  const RepairServer* const server = view.find(*parse_member_id(id));
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->objection.has_value());
}

inline std::string objection_of(FakeCluster& cluster, const std::string& id) {
  const RepairView view = cluster.repair_view();
  const RepairServer* const server = view.find(*parse_member_id(id));
  return server != nullptr ? server->objection.value_or("none") : "not listed";
}

/// A voter that is configured nowhere; returns its number.
inline std::size_t add_stranger(FakeCluster& cluster,
                                const std::string& address = "tcp:10.0.0.9:6643") {
  const std::size_t stranger = cluster.add_node("stranger", kStranger, address);
  cluster.node(stranger).configured = false;
  cluster.enlist(stranger);
  return stranger;
}

}  // namespace wardmote::judge::raft
