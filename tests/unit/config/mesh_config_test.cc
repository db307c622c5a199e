#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "config/config.h"
#include "config/problem.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr auto kFakeKinds = std::to_array<observe::ProbeKind>({{"bird", "a fake", {}, nullptr},
                                                               {"frr", "a fake", {}, nullptr},
                                                               {"tcp", "a fake", {}, nullptr}});

constexpr std::string_view kChecks =
    "checks:\n"
    "- {name: a, bird: {}, every: 5s}\n- {name: b, frr: {}, every: 2s}\n- {name: c, tcp: {}}\n";

std::expected<Config, std::vector<Problem>> with_mesh(std::string_view mesh) {
  return parse_config(fmt::format("{}meshes: {}\n", kChecks, mesh), kFakeKinds);
}

Lines complaints(std::string_view mesh) {
  Lines lines;
  if (const auto config = with_mesh(mesh); !config) {
    for (const Problem& problem : config.error()) lines.push_back(describe("f", problem).substr(2));
  }
  return lines;
}

TEST(MeshConfig, AMeshIsACheckToo) {
  const auto config = with_mesh(
      "[{name: bgp, members: [{check: a}, {check: b, addresses: [10.0.0.2]}], sparse: true, "
      "settle: 20s, optional: true}]");
  ASSERT_TRUE(config.has_value());
  ASSERT_EQ(config->meshes.size(), 1U);
  const Mesh& mesh = config->meshes[0];
  EXPECT_EQ(mesh.name, "bgp");
  EXPECT_EQ(mesh.members, (std::vector<Mesh::Member>{{"a", {}}, {"b", {"10.0.0.2"}}}));
  EXPECT_FALSE(mesh.expectation.full);
  EXPECT_EQ(mesh.expectation.settle, 20s);
  const Check& check = config->checks.back();
  EXPECT_EQ(check.name, "bgp");
  EXPECT_EQ(check.kind, &mesh_kind());
  EXPECT_EQ(check.schedule.every, 2s) << "as often as the fastest of its members";
  EXPECT_TRUE(check.schedule.optional);
}

TEST(MeshConfig, WhatIsWrongBetweenOthersHoldsNoNodeBackUnlessAGateNamesIt) {
  const auto config = with_mesh("[{name: bgp, members: [{check: a}, {check: b}]}]");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->gates.back().all, (Lines{"a", "b", "c"}));
  EXPECT_TRUE(with_mesh("[{name: bgp, members: [{check: a}, {check: b}]}]\n"
                        "gates: {ready: {all: [bgp]}}")
                  .has_value());
}

TEST(MeshConfig, AChangedMeshIsAnotherCheck) {
  const auto check = [](std::string_view members) {
    const auto config = with_mesh(fmt::format("[{{name: bgp, members: {}}}]", members));
    EXPECT_TRUE(config.has_value());
    return config->checks.back();
  };
  const Check one = check("[{check: a}, {check: b}]");
  EXPECT_EQ(one.params, check("[{check: a}, {check: b}]").params);
  EXPECT_NE(one.params, check("[{check: a}, {check: b, addresses: [10.0.0.2]}]").params);
}

TEST(MeshConfig, RefusesWhatIsNoMesh) {
  EXPECT_EQ(complaints("[{name: m, members: [{check: a}]}]").size(), 1U) << "of one daemon";
  EXPECT_EQ(complaints("[{name: m, members: [{check: a}, {check: c}]}]"),
            Lines{"5:50: check 'c': it is of kind 'tcp'; name a check of kind bird or frr"});
  EXPECT_EQ(complaints("[{name: m, members: [{check: a}, {check: aa}]}]"),
            Lines{"5:50: check 'aa': no check has this name; did you mean 'a'?"});
  EXPECT_EQ(complaints("[{name: m, members: [{check: a}, {check: a}]}]").size(), 1U);
  EXPECT_EQ(complaints("[{name: a, members: [{check: a}, {check: b}]}]").size(), 1U)
      << "its name is a check's";
  EXPECT_EQ(complaints("[{members: [{check: a}, {check: b}]}]").size(), 1U);
  EXPECT_EQ(complaints("[{name: m, settle: 2h, members: [{check: a}, {check: b}]}]").size(), 1U);
  EXPECT_EQ(complaints("{name: m}").size(), 1U);
}

}  // namespace
}  // namespace wardmote::config
