// Manifests that cannot be meant, and kinds that cannot be applied.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace wardmote::act::reconcile
