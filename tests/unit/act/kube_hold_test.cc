// A namespace and the definition of a kind stay while something stays that goes with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::PassReport;

const std::string kInside = "/api/v1/namespaces/x/configmaps/in";
const std::string kSpace = "/api/v1/namespaces/x";
const std::string kDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x.org";

class KubeHoldTest : public KubeTargetTest {
 protected:
  KubeHoldTest() {
    kube.versions["/apis/apiextensions.k8s.io/v1"] =
        R"({"resources":[{"name":"customresourcedefinitions","kind":"CustomResourceDefinition",
"namespaced":false,"verbs":["list","delete","patch"]}]})";
    kube.versions["/apis/x.org/v1"] =
        R"({"resources":[{"name":"things","kind":"Thing","namespaced":true,
"verbs":["list","delete","patch"]}]})";
    for (const char* const name : {"a", "b", "c"}) want(name);
    wanted["space.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x, annotations: {" +
                           policy("prune", "yes") + "}}\n";
  }
  void want_inside(const std::string& notes) {
    wanted["in.yaml"] =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: in, namespace: x, annotations: {" +
        notes + "}}\ndata: {a: '1'}\n";
  }
  void want_definition() {
    wanted["crd.yaml"] =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: things.x.org, annotations: {" +
        policy("prune", "yes") +
        "}}\nspec: {group: x.org, scope: Namespaced, names: {kind: Thing, plural: things}}\n";
  }
  void want_thing(const std::string& name, const std::string& notes = "") {
    wanted[name + ".yaml"] = "apiVersion: x.org/v1\nkind: Thing\nmetadata: {name: " + name +
                             ", annotations: {" + notes + "}}\n";
  }
  /// What a dry pass says, a pass does.
  void expect_left(const std::string& object, const std::string& reason) {
    for (const bool dry : {true, false}) {
      const PassReport report = pass(dry);
      EXPECT_TRUE(report.good()) << summary_of(report);
      const auto said = std::ranges::find(report.touched, object, &ObjectReport::object);
      ASSERT_NE(said, report.touched.end()) << reason;
      EXPECT_EQ(said->action, Action::kLeft) << reason;
      EXPECT_TRUE(said->why.contains(reason)) << said->why;
    }
  }
};

/// An outsider lost a namespace with all that was in it, and the pass called itself good.
TEST_F(KubeHoldTest, ANamespaceStaysWhileManifestsWantWhatIsInIt) {
  for (const std::string& notes : {std::string(), policy("prune", "no"),
                                   policy("apply", "if-not-present"), policy("apply", "ignore")}) {
    want_inside(notes);
    ASSERT_TRUE(pass().good());
    const std::string manifest = wanted.at("space.yaml");
    wanted.erase("space.yaml");
    expect_left("Namespace x", "manifests still name ConfigMap x/in, which is in it");
    EXPECT_TRUE(kube.objects.contains(kSpace)) << notes;
    wanted["space.yaml"] = manifest;
    restart();
  }
}

/// The objects were made in it first, and it was deleted in the same pass.
TEST_F(KubeHoldTest, ANamespaceStaysForWhatIsMadeInItInTheSamePass) {
  ASSERT_TRUE(pass().good());
  wanted.erase("space.yaml");
  want_inside("");
  expect_left("Namespace x", "manifests still name ConfigMap x/in");
  EXPECT_TRUE(kube.objects.contains(kSpace) && kube.objects.contains(kInside));
}

TEST_F(KubeHoldTest, ANamespaceGoesWhenNothingIsWantedInItAnyMore) {
  want_inside("");
  ASSERT_TRUE(pass().good());
  wanted.erase("space.yaml");
  ASSERT_TRUE(pass().good());
  wanted.erase("in.yaml");
  EXPECT_TRUE(pass().good());
  EXPECT_FALSE(kube.objects.contains(kSpace) || kube.objects.contains(kInside));
}

/// The namespace that objects get which name none.
TEST_F(KubeHoldTest, TheDefaultNamespaceStaysToo) {
  options.space = "x";
  ASSERT_TRUE(pass().good());
  wanted.erase("space.yaml");
  expect_left("Namespace x", "manifests still name ConfigMap x/a");
}

TEST_F(KubeHoldTest, TheNamespaceOfTheNotesStaysToo) {
  options.inventory_space = "x";
  ASSERT_TRUE(pass().good());
  wanted.erase("space.yaml");
  expect_left("Namespace x", "ConfigMap x/wardmote-set-k8s, which stays, is in it");
}

/// Somebody took the label off an object that the set keeps: it is out of sight, and in there.
TEST_F(KubeHoldTest, ANamespaceStaysForWhatIsKeptOutOfSight) {
  const std::string hidden = "/api/v1/namespaces/x/secrets/in";
  const std::string manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: in, namespace: x";
  wanted["in.yaml"] = manifest + "}\n";
  ASSERT_TRUE(pass().good());
  wanted["in.yaml"] = manifest + ", annotations: {" + policy("apply", "ignore") + "}}\n";
  ASSERT_TRUE(pass().good());
  json::object& live = kube.objects.at(hidden);
  live.at("metadata").as_object().erase("labels");
  kube.touch(live);
  wanted.erase("space.yaml");
  wanted.erase("in.yaml");
  for (int turn = 0; turn < 3; ++turn) {
    expect_left("Namespace x", "Secret x/in, which stays, is in it");
    restart();
  }
  kube.objects.erase(hidden);
  ASSERT_TRUE(pass().good());
  ASSERT_TRUE(pass().good());
  EXPECT_FALSE(kube.objects.contains(kSpace)) << "somebody deleted what held it";
}

TEST_F(KubeHoldTest, ADefinitionStaysWhileManifestsWantSomethingOfItsKind) {
  for (const std::string& notes : {std::string(), policy("apply", "ignore")}) {
    want_definition();
    want_thing("t", notes);
    ASSERT_TRUE(pass().good());
    wanted.erase("crd.yaml");
    expect_left("CustomResourceDefinition.apiextensions.k8s.io things.x.org",
                "manifests still name Thing.x.org default/t, which is of this kind");
    restart();
  }
}

// Nobody saw what was in it, and it was deleted with it.
TEST_F(KubeHoldTest, WhatIsKeptInAKindThatIsNotServedHoldsItsDefinitionAndItsNamespace) {
  want_definition();
  wanted["t.yaml"] =
      "apiVersion: x.org/v1\nkind: Thing\nmetadata: {name: t, namespace: x, annotations: {" +
      policy("prune", "no") + "}}\n";
  ASSERT_TRUE(pass().good());
  kube.versions.erase("/apis/x.org/v1");
  restart();
  for (const char* const gone : {"crd.yaml", "t.yaml", "space.yaml"}) wanted.erase(gone);
  expect_left("CustomResourceDefinition.apiextensions.k8s.io things.x.org",
              "Thing.x.org x/t, which stays");
  expect_left("Namespace x", "Thing.x.org x/t, which stays");
  EXPECT_TRUE(kube.objects.contains(kDefinition));
  EXPECT_TRUE(kube.objects.contains(kSpace));
}

TEST_F(KubeHoldTest, ADefinitionOfAnotherKindOfTheGroupGoes) {
  want_definition();
  kube.versions["/apis/x.org/v1"] =
      R"({"resources":[{"name":"others","kind":"Other","namespaced":true,
"verbs":["list","delete","patch"]}]})";
  wanted["o.yaml"] = "apiVersion: x.org/v1\nkind: Other\nmetadata: {name: o}\n";
  ASSERT_TRUE(pass().good());
  wanted.erase("crd.yaml");
  EXPECT_TRUE(pass().good());
  EXPECT_FALSE(kube.objects.contains(kDefinition));
}

/// Somebody changed it since it was read, and what he wrote may say that it stays.
TEST_F(KubeHoldTest, ANamespaceStaysWhenSomethingInItCouldNotBeDeleted) {
  want_inside("");
  ASSERT_TRUE(pass().good());
  wanted.erase("space.yaml");
  wanted.erase("in.yaml");
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "DELETE", "in")) return std::nullopt;
    return FakeKube::status(409, "Conflict", "the object has been modified");
  };
  PassReport report = pass();
  EXPECT_FALSE(report.good());
  EXPECT_TRUE(kube.objects.contains(kInside) && kube.objects.contains(kSpace));
  kube.before = nullptr;
  report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_FALSE(kube.objects.contains(kInside) || kube.objects.contains(kSpace));
}

}  // namespace
}  // namespace wardmote::act::reconcile
