// The table of Metropolis's TestWatchNodes, and what an etcd watch that catches up does.
#include "judge/version_gate/membership.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/version_gate/entry.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

constexpr Release kLocal{.major = 0, .minor = 1, .patch = 0};
constexpr Release patch(std::int64_t number) {
  return {.major = 0, .minor = 0, .patch = number};
}
constexpr Release kHuge{.major = 10000};

MemberChange put(std::string node, Release release, Revision revision) {
  return {.member = {.node = std::move(node), .release = release}, .revision = revision};
}
MemberChange gone(std::string node, Revision revision) {
  return {.member = {.node = std::move(node)}, .removed = true, .revision = revision};
}

TEST(GateMembership, FollowsTheNodes) {
  Membership nodes;
  nodes.replace({{.node = "a1", .release = patch(2)},
                 {.node = "a2", .release = patch(2)},
                 {.node = "a3", .release = patch(2)},
                 {.node = "b", .release = patch(3)},
                 {.node = "c", .release = kHuge}},
                14);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = patch(2), .max = kHuge}));
  EXPECT_EQ(nodes.revision(), 14);
  // a1 no longer takes part: its registration goes, as far as this gate is concerned.
  nodes.apply(std::vector{gone("a1", 15)}, 15);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = patch(2), .max = kHuge}));
  EXPECT_EQ(nodes.revision(), 15);
  nodes.apply(std::vector{gone("a2", 16)}, 16);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = patch(2), .max = kHuge}));
  nodes.apply(std::vector{put("a3", patch(4), 17)}, 17);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = patch(3), .max = kHuge}));
}

TEST(GateMembership, TheLocalReleaseAlwaysCounts) {
  Membership nodes;
  nodes.replace({}, 1);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = kLocal, .max = kLocal}));
  nodes.replace({{.node = "b", .release = kHuge}}, 2);
  EXPECT_EQ(releases(nodes, kLocal), (Releases{.min = kLocal, .max = kHuge}));
}

/// Reference 1.7.1: three batches, headers 6356 each, last changes 4356, 5356 and 6356.
TEST(GateMembership, AHeaderAheadOfTheChangesClaimsNothing) {
  Membership nodes;
  nodes.replace({}, 3356);
  nodes.apply(std::vector{put("a", patch(2), 4000), put("b", patch(2), 4356)}, 6356);
  EXPECT_EQ(nodes.revision(), 4356);
  nodes.apply(std::vector{put("a", patch(3), 5356)}, 6356);
  EXPECT_EQ(nodes.revision(), 5356);
  nodes.apply(std::vector{put("c", patch(1), 6356)}, 6356);
  EXPECT_EQ(nodes.revision(), 6356);
}

TEST(GateMembership, AHeaderWithoutChangesIsProgress) {
  Membership nodes;
  nodes.replace({}, 5);
  nodes.apply({}, 9);
  EXPECT_EQ(nodes.revision(), 9);
  nodes.apply({}, 7);
  EXPECT_EQ(nodes.revision(), 9);
}

/// After a compaction everything is read again.
TEST(GateMembership, AfterAListTheNodesThatAreGoneAreGone) {
  Membership nodes;
  nodes.replace({{.node = "a", .release = kHuge}}, 5);
  nodes.replace({{.node = "b", .release = patch(2)}}, 9);
  EXPECT_EQ(nodes.members().size(), 1);
  EXPECT_EQ(releases(nodes, kLocal).max, kLocal);
}

TEST(GateMembership, OnlyTheHighestReleaseCampaigns) {
  Membership nodes;
  EXPECT_FALSE(may_campaign(nodes, kLocal)) << "nothing was read yet";
  nodes.replace({{.node = "a", .release = kLocal}, {.node = "b", .release = patch(9)}}, 3);
  EXPECT_TRUE(may_campaign(nodes, kLocal));
  EXPECT_FALSE(may_campaign(nodes, patch(9)));
  // A node that nobody can read is neither higher nor lower.
  nodes.replace({{.node = "a", .release = {}, .why = "cut off"}}, 4);
  EXPECT_TRUE(may_campaign(nodes, kLocal));
}

TEST(GateMembership, WhileAReleaseIsPreservedNewerNodesNeitherLeadNorKeepOthersFromIt) {
  Membership nodes;
  nodes.replace({{.node = "a", .release = patch(4)},
                 {.node = "b", .release = patch(5)},
                 {.node = "c", .release = kHuge}},
                3);
  EXPECT_TRUE(may_campaign(nodes, kHuge));
  EXPECT_FALSE(may_campaign(nodes, kHuge, patch(5)));
  EXPECT_TRUE(may_campaign(nodes, patch(5), patch(5)));
  EXPECT_FALSE(may_campaign(nodes, patch(4), patch(5))) << "the highest of those that may";
  EXPECT_TRUE(may_campaign(nodes, patch(4), patch(4)));
  // A record that nobody can read.
  EXPECT_FALSE(may_campaign(nodes, patch(4), Release{.major = -1}));
  const Product own{.release = patch(5), .min_apiserver_release = patch(5)};
  EXPECT_EQ(clear(nodes, own).verdict, Clearance::Verdict::kNewer);
  const Clearance older = clear(nodes, own, patch(5));
  EXPECT_EQ(older.verdict, Clearance::Verdict::kOlder) << "who is too old still blocks";
  EXPECT_EQ(older.nodes.size(), 1U);
}

}  // namespace
}  // namespace wardmote::judge::version_gate
