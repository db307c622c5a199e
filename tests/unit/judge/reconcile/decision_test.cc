#include "judge/reconcile/decision.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"

namespace wardmote::judge::reconcile {
namespace {

using Kind = Decision::Kind;

const ObjectId kId{.kind = "ConfigMap", .space = "default", .name = "a"};
const LiveObject kMember{.id = kId, .set = "k8s", .applied_by_us = true};

Decision decided(const std::optional<LiveObject>& live, bool matches = false,
                 const Policy& policy = {}) {
  return decide("k8s", policy, live, matches);
}

TEST(Decision, WhatIsNotThereIsCreatedAndWhatDiffersApplied) {
  EXPECT_EQ(decided(std::nullopt).kind, Kind::kCreate);
  EXPECT_EQ(decided(kMember).kind, Kind::kApply);
  EXPECT_EQ(decided(kMember, true).kind, Kind::kUnchanged);
}

/// Reference 6, scenario 36.
TEST(Decision, AnObjectOfThatNameThatIsNotOursIsTakenOverOnlyOnRequest) {
  for (const LiveObject& live : {LiveObject{.id = kId}, LiveObject{.id = kId, .set = "k8s"},
                                 LiveObject{.id = kId, .applied_by_us = true}}) {
    EXPECT_EQ(decided(live).kind, Kind::kRefuse);
    EXPECT_EQ(decided(live, true).kind, Kind::kRefuse);
    EXPECT_EQ(decided(live, false, {.adopt = true}).kind, Kind::kApply);
    const std::string_view why = live.applied_by_us ? "taken the label" : "not created by this set";
    EXPECT_NE(decided(live).why.find(why), std::string::npos);
  }
}

TEST(Decision, AMemberOfAnotherSetIsNeverTakenOver) {
  const LiveObject other{.id = kId, .set = "other", .applied_by_us = true};
  const Decision decision = decided(other, false, {.adopt = true});
  EXPECT_EQ(decision.kind, Kind::kRefuse);
  EXPECT_EQ(decision.why, "it belongs to the set 'other'");
}

/// Reference 6, scenario 41.
TEST(Decision, WhatIsBeingDeletedIsNotWritten) {
  LiveObject going = kMember;
  going.deleting = true;
  EXPECT_EQ(decided(going).kind, Kind::kRefuse);
  EXPECT_EQ(decided(going).why, "somebody deletes it, and a finalizer holds it");
  going.deleting_since = "2026-01-01T00:00:00Z";
  EXPECT_EQ(decided(going).why,
            "somebody deletes it, since 2026-01-01T00:00:00Z, and a finalizer holds it");
}

TEST(Decision, PoliciesLeaveObjectsAlone) {
  EXPECT_EQ(decided(std::nullopt, false, {.apply = Policy::Apply::kIgnore}).kind, Kind::kLeave);
  EXPECT_EQ(decided(kMember, false, {.apply = Policy::Apply::kIfNotPresent}).kind, Kind::kLeave);
  EXPECT_EQ(decided(std::nullopt, false, {.apply = Policy::Apply::kIfNotPresent}).kind,
            Kind::kCreate);
}

std::map<std::string, std::string> annotation(const std::string& key, const std::string& value) {
  return {{"reconcile.wardmote.io/" + key, value}, {"example.org/other", "x"}};
}

TEST(Policy, ReadsEachAnnotation) {
  EXPECT_EQ(read_policy({}).value(), Policy());
  EXPECT_EQ(read_policy(annotation("apply", "ignore")).value(),
            Policy{.apply = Policy::Apply::kIgnore});
  EXPECT_EQ(read_policy(annotation("apply", "if-not-present")).value(),
            Policy{.apply = Policy::Apply::kIfNotPresent});
  EXPECT_EQ(read_policy(annotation("apply", "override")).value(), Policy());
  EXPECT_EQ(read_policy(annotation("conflict", "fail")).value(), Policy{.force = false});
  EXPECT_EQ(read_policy(annotation("on-immutable", "recreate")).value(), Policy{.recreate = true});
  EXPECT_EQ(read_policy(annotation("prune", "no")).value(), Policy{.prune = false});
  EXPECT_EQ(read_policy(annotation("adopt", "yes")).value(), Policy{.adopt = true});
  EXPECT_EQ(read_policy(annotation("digest", "00")).value(), Policy());
}

/// A policy with a typing error must not be the default one: that would be to write, or to delete.
TEST(Policy, ATypingErrorIsNoPolicy) {
  EXPECT_EQ(read_policy(annotation("prune", "false")).error().context,
            "the annotation reconcile.wardmote.io/prune is not yes or no");
  EXPECT_EQ(read_policy(annotation("prun", "no")).error().context,
            "the annotation reconcile.wardmote.io/prun is not known");
  EXPECT_TRUE(keeps(kId, annotation("prune", "false")));
}

TEST(Policy, WhatHoldsOthersIsPrunedOnlyOnRequest) {
  const ObjectId space{.kind = "Namespace", .name = "x"};
  const ObjectId definition{
      .group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .name = "x"};
  EXPECT_FALSE(keeps(kId, {}));
  EXPECT_TRUE(keeps(kId, annotation("prune", "no")));
  EXPECT_TRUE(keeps(kId, annotation("apply", "ignore")));
  for (const ObjectId& id : {space, definition}) {
    EXPECT_TRUE(keeps(id, {}));
    EXPECT_FALSE(keeps(id, annotation("prune", "yes")));
  }
  EXPECT_FALSE(holds_others({.group = "example.org", .kind = "Namespace", .name = "x"}));
}

}  // namespace
}  // namespace wardmote::judge::reconcile
