// Manifests that cannot be meant, and kinds that cannot be applied.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::PassReport;

class KubeManifestTest : public KubeTargetTest {
 protected:
  /// The fault of a set with this in the metadata of one manifest.
  std::string fault_of(const std::string& metadata) {
    wanted["m.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, " + metadata + "}\n";
    const PassReport report = pass();
    if (report.faults.empty()) return "";
    EXPECT_EQ(kube.writes, 0);
    return report.faults.front();
  }
};

/// They were overwritten without a word.
TEST_F(KubeManifestTest, WhatThePassItselfWritesIsNotForManifests) {
  EXPECT_EQ(fault_of("annotations: {" + policy("digest", "abc") + "}"),
            "m.yaml:1: the annotation reconcile.wardmote.io/digest is written by the pass; leave "
            "it out of the manifest");
  EXPECT_EQ(fault_of("labels: {" + policy("set", "other") + "}"),
            "m.yaml:1: the label reconcile.wardmote.io/set says another set than 'k8s'; leave it "
            "out of the manifest");
  EXPECT_EQ(fault_of("labels: {" + policy("prune", "no") + "}"),
            "m.yaml:1: the label reconcile.wardmote.io/prune is not known; write it as an "
            "annotation");
  EXPECT_EQ(fault_of("labels: {reconcile.wardmote.io/set: k8s, other.org/set: x}, annotations: {" +
                     policy("prune", "no") + "}"),
            "");
}

/// A dry pass called it created, without the namespace that such a kind never has.
TEST_F(KubeManifestTest, AKindThatTakesNoPatchFailsInEachPass) {
  kube.versions["/apis/authorization.k8s.io/v1"] =
      R"({"resources":[{"name":"reviews","kind":"Review","namespaced":false,"verbs":["create"]}]})";
  wanted["r.yaml"] = "apiVersion: authorization.k8s.io/v1\nkind: Review\nmetadata: {name: r}\n";
  want("a");
  for (const bool dry : {true, false}) {
    const PassReport report = pass(dry);
    const auto said = std::ranges::find(report.touched, Action::kFailed, &ObjectReport::action);
    ASSERT_NE(said, report.touched.end()) << dry;
    EXPECT_EQ(said->object, "Review.authorization.k8s.io r");
    EXPECT_EQ(said->why,
              "r.yaml:1: Review of authorization.k8s.io/v1 cannot be applied: the server takes no "
              "PATCH of it; take it out of the folder");
  }
  EXPECT_EQ(value("a"), "1") << "the others are made";
}

TEST_F(KubeManifestTest, WhatIsNotFoundWithoutANamespaceIsNotCalledCreated) {
  wanted["r.yaml"] =
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n";
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "PATCH" || !call.url.contains("clusterroles")) return std::nullopt;
    return FakeKube::status(404, "NotFound", "the server could not find the requested resource");
  };
  const PassReport report = pass(true);
  ASSERT_EQ(report.touched.size(), 1U);
  EXPECT_EQ(report.touched.front().action, Action::kFailed);
  EXPECT_TRUE(report.touched.front().why.starts_with("HTTP 404 NotFound"))
      << report.touched.front().why;
}

}  // namespace
}  // namespace wardmote::act::reconcile
