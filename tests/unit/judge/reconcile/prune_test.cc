// What a pass may delete, and what it may not under any circumstances.
#include "judge/reconcile/prune.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/order.h"

namespace wardmote::judge::reconcile {
namespace {

ObjectId config_map(const std::string& name) {
  return {.kind = "ConfigMap", .space = "default", .name = name};
}

LiveObject member(const std::string& name) {
  return {.id = config_map(name), .set = "k8s", .applied_by_us = true};
}

TEST(Prune, DeletesMembersThatNoManifestWants) {
  const PrunePlan plan = plan_prune("k8s", {member("a"), member("b")}, {config_map("a")}, {});
  EXPECT_EQ(plan.doomed, std::vector{config_map("b")});
  EXPECT_EQ(plan.refused, "");
}

/// Reference 6, scenario 37.
TEST(Prune, ALabelThatSomebodyElseGaveIsNoMembership) {
  LiveObject foreign = member("b");
  foreign.applied_by_us = false;
  const PrunePlan plan = plan_prune("k8s", {member("a"), foreign}, {config_map("a")}, {});
  EXPECT_TRUE(plan.doomed.empty());
  EXPECT_EQ(plan.not_ours, std::vector{config_map("b")});
}

/// Else what is wrong would be made, count as a member, and have the rest deleted by the next pass.
TEST(Prune, WhatWouldDeleteTooManyIsDoubtedAsAWhole) {
  const std::vector<LiveObject> both{member("a"), member("b")};
  EXPECT_TRUE(plan_prune("k8s", both, {config_map("x")}, {}).doubted);
  EXPECT_TRUE(plan_prune("k8s", both, {}, {}).doubted);
  EXPECT_FALSE(plan_prune("k8s", both, {config_map("a")}, {}).doubted);
  EXPECT_FALSE(plan_prune("k8s", both, {config_map("x")}, {.percent = 100}).doubted);
  EXPECT_FALSE(plan_prune("k8s", both, {config_map("x")}, {.percent = 0}).doubted)
      << "whoever never prunes has said so";
  EXPECT_FALSE(plan_prune("k8s", {}, {config_map("x")}, {}).doubted);
}

TEST(Prune, AnotherSetIsNotOurs) {
  LiveObject other = member("b");
  other.set = "other";
  const PrunePlan plan = plan_prune("k8s", {member("a"), other}, {config_map("a")}, {});
  EXPECT_TRUE(plan.doomed.empty() && plan.not_ours.empty());
}

TEST(Prune, WhatAsksToBeKeptAndWhatIsBeingDeletedIsLeft) {
  LiveObject kept = member("b");
  kept.keeps = true;
  LiveObject going = member("c");
  going.deleting = true;
  const PrunePlan plan = plan_prune("k8s", {member("a"), kept, going}, {config_map("a")}, {});
  EXPECT_TRUE(plan.doomed.empty());
  EXPECT_EQ(plan.kept, std::vector{config_map("b")});
  EXPECT_EQ(plan.deleting, std::vector{config_map("c")});
}

/// Reference 6, scenario 39.
/// Else it would go with what holds it.
TEST(Prune, WhatHoldsSomethingThatIsKeptIsKeptToo) {
  LiveObject kept = member("b");
  kept.keeps = true;
  LiveObject thing{.id = {.group = "x.org", .kind = "Thing", .space = "default", .name = "t"},
                   .set = "k8s",
                   .applied_by_us = true,
                   .keeps = true};
  const auto held = [](const std::string& kind, const std::string& name) {
    const std::string group = kind == "Namespace" ? "" : "apiextensions.k8s.io";
    return LiveObject{.id = {.group = group, .kind = kind, .space = "", .name = name},
                      .set = "k8s",
                      .applied_by_us = true};
  };
  const PrunePlan plan =
      plan_prune("k8s",
                 {kept, thing, held("Namespace", "default"), held("Namespace", "other"),
                  held("CustomResourceDefinition", "things.x.org"),
                  held("CustomResourceDefinition", "things.y.org")},
                 {}, {.percent = 100});
  std::vector<std::string> doomed;
  for (const ObjectId& id : plan.doomed) doomed.push_back(id.name);
  std::ranges::sort(doomed);
  EXPECT_EQ(doomed, (std::vector<std::string>{"other", "things.y.org"}));
  EXPECT_EQ(plan.kept.size(), 2U);
  ASSERT_EQ(plan.holding.size(), 2U);
  EXPECT_EQ(describe(plan.holding.at(0)), "ConfigMap default/b, which stays, is in it");
  EXPECT_EQ(describe(plan.holding.at(1)), "Thing.x.org default/t, which stays, is of this kind");
}

LiveObject space_of(const std::string& name) {
  return {.id = {.kind = "Namespace", .name = name}, .set = "k8s", .applied_by_us = true};
}

/// Whatever its policy is, and whether it is there: to delete the namespace would delete it.
TEST(Prune, ANamespaceStaysWhileManifestsNameSomethingInIt) {
  const ObjectId inside{.kind = "ConfigMap", .space = "x", .name = "in"};
  const std::vector<LiveObject> found{space_of("x"), space_of("y"), member("a"), member("b")};
  const PrunePlan plan = plan_prune("k8s", found, {config_map("a"), config_map("b"), inside}, {});
  EXPECT_EQ(plan.doomed, std::vector{space_of("y").id});
  ASSERT_EQ(plan.holding.size(), 1U);
  EXPECT_EQ(plan.holding.front().id, space_of("x").id);
  EXPECT_EQ(describe(plan.holding.front()), "manifests still name ConfigMap x/in, which is in it");
  const PrunePlan all = plan_prune("k8s", {space_of("x")}, {inside}, {.percent = 100});
  EXPECT_TRUE(all.doomed.empty()) << "no brake is asked";
}

TEST(Prune, ADefinitionStaysWhileManifestsNameSomethingOfItsKind) {
  const auto defining = [](const std::string& name, std::vector<std::string> kinds) {
    return LiveObject{
        .id = {.group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .name = name},
        .set = "k8s",
        .applied_by_us = true,
        .defines = std::move(kinds)};
  };
  const ObjectId thing{.group = "x.org", .kind = "Thing", .space = "default", .name = "t"};
  const ObjectId other{.group = "org", .kind = "Other", .name = "o"};
  const std::vector<LiveObject> found{defining("things.x.org", {"Thing"}),
                                      defining("others.x.org", {"Other"}),
                                      defining("unread.x.org", {})};
  const PrunePlan plan = plan_prune("k8s", found, {thing, other}, {.percent = 100});
  EXPECT_EQ(plan.doomed, std::vector{found.at(1).id}) << "another kind, and another group";
  ASSERT_EQ(plan.holding.size(), 2U) << "a kind that nobody can read may be this one";
  EXPECT_EQ(describe(plan.holding.front()),
            "manifests still name Thing.x.org default/t, which is of this kind");
}

/// What the set itself notes is in some namespace, too.
TEST(Prune, ANamespaceStaysWhileTheSetNeedsSomethingInIt) {
  const ObjectId note{.kind = "ConfigMap", .space = "x", .name = "wardmote-set-k8s"};
  const PrunePlan plan =
      plan_prune("k8s", {space_of("x"), member("a")}, {config_map("a")}, {.percent = 100}, {note});
  EXPECT_TRUE(plan.doomed.empty());
  EXPECT_EQ(describe(plan.holding.at(0)), "ConfigMap x/wardmote-set-k8s, which stays, is in it");
  EXPECT_TRUE(plan_prune("k8s", {member("a")}, {}, {}, {note}).doubted)
      << "that is no manifest that is left";
}

TEST(Prune, WhatHoldsSomethingMakesNoRoomForMore) {
  const ObjectId inside{.kind = "ConfigMap", .space = "x", .name = "in"};
  const std::vector<LiveObject> found{space_of("x"), member("a"), member("b"), member("c")};
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a"), inside}, {}).refused,
            "2 of 3 members would be deleted, which is more than 50 %");
}

TEST(Prune, WhatStaysAnywayMakesNoRoomForMore) {
  std::vector<LiveObject> found;
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g"}) {
    found.push_back(member(name));
    found.back().keeps = found.size() > 4;
  }
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a")}, {}).refused,
            "3 of 4 members would be deleted, which is more than 50 %");
}

TEST(Prune, TheBrakeHoldsAsAWhole) {
  const std::vector<LiveObject> found = {member("a"), member("b"), member("c"), member("d")};
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a"), config_map("b")}, {}).refused, "");
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a")}, {}).refused,
            "3 of 4 members would be deleted, which is more than 50 %");
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a")}, {.percent = 75}).refused, "");
  EXPECT_EQ(plan_prune("k8s", found, {config_map("a")}, {.percent = 74}).refused,
            "3 of 4 members would be deleted, which is more than 74 %");
}

TEST(Prune, AnEmptySetDeletesNothingUnlessAllOfItIsAllowed) {
  EXPECT_NE(plan_prune("k8s", {member("a")}, {}, {.percent = 99}).refused, "");
  EXPECT_EQ(plan_prune("k8s", {member("a")}, {}, {.percent = 100}).refused, "");
  EXPECT_EQ(
      plan_prune("k8s", {member("a"), member("b")}, {config_map("a")}, {.percent = 0}).refused,
      "pruning is switched off");
}

TEST(Prune, DeletesInReverseOrder) {
  LiveObject space{.id = {.kind = "Namespace", .name = "x"}, .set = "k8s", .applied_by_us = true};
  const PrunePlan plan = plan_prune("k8s", {space, member("b")}, {}, {.percent = 100});
  EXPECT_EQ(plan.doomed, (std::vector{config_map("b"), space.id}));
}

std::vector<LiveObject> any_objects() {
  const int size = *rc::gen::inRange(0, 40);
  std::vector<LiveObject> found;
  for (int at = 0; at < size; ++at) {
    LiveObject live = member(std::to_string(at));
    live.set = *rc::gen::element<std::string>("k8s", "k8s", "k8s", "other", "");
    live.applied_by_us = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
    live.keeps = *rc::gen::weightedElement<bool>({{1, true}, {6, false}});
    live.deleting = *rc::gen::weightedElement<bool>({{1, true}, {6, false}});
    found.push_back(live);
  }
  return found;
}

TEST(Prune, NeverTakesMoreThanTheBrakeAllowsNorWhatIsNotOwned) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<LiveObject> found = any_objects();
    std::set<ObjectId> desired;
    for (const LiveObject& live : found) {
      if (*rc::gen::arbitrary<bool>()) desired.insert(live.id);
    }
    const int percent = *rc::gen::inRange(0, 101);
    const PrunePlan plan = plan_prune("k8s", found, desired, {.percent = percent});
    const auto members = static_cast<std::size_t>(std::ranges::count_if(
        found, [](const LiveObject& live) { return is_member(live, "k8s"); }));
    if (plan.refused.empty()) RC_ASSERT(plan.doomed.size() * 100 <= members * percent);
    for (const ObjectId& id : plan.doomed) {
      const auto live = std::ranges::find(found, id, &LiveObject::id);
      RC_ASSERT(live->set == "k8s" && live->applied_by_us && !live->keeps && !live->deleting);
      RC_ASSERT(!desired.contains(id));
    }
  }));
}

TEST(Order, FirstWhatOthersNeed) {
  std::vector<ObjectId> ids = {
      {.group = "admissionregistration.k8s.io",
       .kind = "ValidatingWebhookConfiguration",
       .name = "w"},
      {.group = "apps", .kind = "Deployment", .space = "x", .name = "d"},
      {.group = "rbac.authorization.k8s.io", .kind = "ClusterRoleBinding", .name = "b"},
      {.group = "rbac.authorization.k8s.io", .kind = "ClusterRole", .name = "r"},
      {.kind = "ConfigMap", .space = "x", .name = "c"},
      {.kind = "ServiceAccount", .space = "x", .name = "s"},
      {.kind = "Namespace", .name = "x"},
      {.group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .name = "k"}};
  const std::vector<ObjectId> wanted(ids.rbegin(), ids.rend());
  std::ranges::sort(ids, applies_before);
  EXPECT_EQ(ids, wanted);
}

TEST(Order, DoesNotDependOnWhatItIsGivenIn) {
  EXPECT_TRUE(rc::check([] {
    std::vector<ObjectId> ids;
    for (int at = 0; at < 12; ++at) {
      ids.push_back({.group = *rc::gen::element<std::string>("", "apps"),
                     .kind = *rc::gen::element<std::string>("Namespace", "ConfigMap", "Deployment"),
                     .space = *rc::gen::element<std::string>("", "x"),
                     .name = std::to_string(at)});
    }
    std::vector<ObjectId> sorted = ids;
    std::ranges::sort(sorted, applies_before);
    std::ranges::reverse(ids);
    std::ranges::sort(ids, applies_before);
    RC_ASSERT(ids == sorted);
  }));
}

}  // namespace
}  // namespace wardmote::judge::reconcile
