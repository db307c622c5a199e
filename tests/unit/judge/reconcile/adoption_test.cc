#include "judge/reconcile/adoption.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/report.h"

namespace wardmote::judge::reconcile {
namespace {

LiveObject live(std::string set) {
  return {.id = {.kind = "ConfigMap", .space = "default", .name = "a"}, .set = std::move(set)};
}

TEST(Adoption, WhatBelongsToNobodyMayBeTakenOver) {
  EXPECT_EQ(why_not_adopted("k8s", live(""), {}), "");
  EXPECT_EQ(why_not_adopted("k8s", live(""), {.appliers = {"kubectl", "helm"}}), "");
  EXPECT_EQ(why_not_adopted("k8s", live("k8s"), {.appliers = {"wardmote/k8s"}}), "")
      << "ours, with fields of others";
}

TEST(Adoption, WhatIsOrMayBeSomebodyElsesMayNot) {
  EXPECT_EQ(why_not_adopted("k8s", live("other"), {}), "it belongs to the set 'other'");
  EXPECT_EQ(why_not_adopted("k8s", live(""), {.appliers = {"kubectl", "wardmote/other"}}),
            "the set 'other' has applied it, and its label does not say so");
  EXPECT_EQ(why_not_adopted("k8s", live("k8s"), {.appliers = {"wardmote/other"}}),
            "the set 'other' has applied it, and its label does not say so");
  EXPECT_EQ(why_not_adopted("k8s", live(""), {.controller = "ReplicaSet web"}),
            "ReplicaSet web controls it, and would change it back");
  LiveObject dying = live("");
  dying.deleting = true;
  EXPECT_EQ(why_not_adopted("k8s", dying, {}), "somebody deletes it, and a finalizer holds it");
}

TEST(Adoption, AnOrderIsForTheVeryObject) {
  const Adoptions ordered{{"ConfigMap default/a", "uid-1"}, {"ConfigMap default/b", ""}};
  EXPECT_TRUE(is_adopted(ordered, "ConfigMap default/a", "uid-1"));
  EXPECT_FALSE(is_adopted(ordered, "ConfigMap default/a", "uid-2")) << "made anew since";
  EXPECT_FALSE(is_adopted(ordered, "ConfigMap default/b", ""));
  EXPECT_FALSE(is_adopted(ordered, "ConfigMap default/c", "uid-1"));
}

class FindAdoptable : public ::testing::Test {
 protected:
  void add(const std::string& object, bool foreign = true, const std::string& refusal = "") {
    ObjectReport one{.object = object, .action = ObjectReport::Action::kFailed};
    if (foreign) one.foreign = ForeignObject{.uid = "uid of " + object, .refusal = refusal};
    report.touched.push_back(one);
  }
  std::string found(std::string_view words) const {
    const auto one = find_adoptable(report, words);
    return one ? one->object : one.error().context;
  }
  PassReport report;
};

TEST_F(FindAdoptable, AnObjectIsNamedWholeOrShortly) {
  add("ConfigMap default/a");
  add("ClusterRole.rbac.authorization.k8s.io reader");
  EXPECT_EQ(found("ConfigMap default/a"), "ConfigMap default/a");
  EXPECT_EQ(found("ConfigMap a"), "ConfigMap default/a");
  EXPECT_EQ(found("ClusterRole reader"), "ClusterRole.rbac.authorization.k8s.io reader");
  EXPECT_EQ(find_adoptable(report, "ConfigMap a")->foreign->uid, "uid of ConfigMap default/a");
  for (const char* const none :
       {"", "ConfigMap", "ConfigMap ", "ConfigMap b", "Config a", "ConfigMap fault/a",
        "ConfigMap other/a", "Secret a", "ClusterRole.rbac reader"}) {
    const auto nothing = find_adoptable(report, none);
    ASSERT_FALSE(nothing) << none;
    EXPECT_EQ(nothing.error().code, Errc::kMissing) << none;
  }
}

TEST_F(FindAdoptable, WhatMayBeSeveralIsRefused) {
  add("ConfigMap default/a");
  add("ConfigMap kube-system/a");
  add("Ingress.extensions default/web");
  add("Ingress.networking.k8s.io default/web");
  EXPECT_EQ(found("ConfigMap a"),
            "'ConfigMap a' may be any of ConfigMap default/a, ConfigMap kube-system/a; write the "
            "whole name");
  EXPECT_EQ(find_adoptable(report, "Ingress web").error().code, Errc::kRejected);
  EXPECT_EQ(found("Ingress.extensions web"), "Ingress.extensions default/web");
  EXPECT_EQ(found("ConfigMap kube-system/a"), "ConfigMap kube-system/a");
}

TEST_F(FindAdoptable, OnlyWhatWaitsForItIsTakenOver) {
  add("ConfigMap default/failed", false);
  add("Ingress web", false);
  add("Ingress.networking.k8s.io web");
  EXPECT_EQ(find_adoptable(report, "ConfigMap failed").error().code, Errc::kMissing);
  EXPECT_EQ(find_adoptable(report, "Ingress web").error().code, Errc::kMissing)
      << "that one is meant, and no other";
  add("ConfigMap default/theirs", true, "it belongs to the set 'other'");
  EXPECT_EQ(found("ConfigMap theirs"),
            "ConfigMap default/theirs cannot be taken over: it belongs to the set 'other'");
}

}  // namespace
}  // namespace wardmote::judge::reconcile
