// Members that stay although no manifest wants them any more.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "act/reconcile/inventory.h"
#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

namespace json = boost::json;
using judge::reconcile::PassReport;

class KubeKeepTest : public KubeTargetTest {
 protected:
  /// As somebody else does it: `kubectl annotate` with a field manager of its own.
  void annotate(const std::string& name, const std::string& key, const std::string& value) {
    json::object& object = kube.objects.at(path_of(name));
    json::object& notes = object.at("metadata").at("annotations").as_object();
    notes.erase("reconcile.wardmote.io/" + key);
    if (!value.empty()) notes["reconcile.wardmote.io/" + key] = value;
    for (json::value& one : object.at("metadata").at("managedFields").as_array()) {
      json::value* const fields = one.as_object().if_contains("fieldsV1");
      if (fields != nullptr && fields->as_object().contains("f:metadata"))
        fields->at("f:metadata").as_object().erase("f:annotations");
    }
    kube.touch(object);
  }
  json::object& inventory() { return kube.objects.at(inventory_path("kube-system", "k8s")); }
};

/// The live object does not say it: nothing was written since the manifest began to.
TEST_F(KubeKeepTest, WhatIsLeftAloneStaysWhenItsManifestGoes) {
  for (const char* const how : {"ignore", "if-not-present"}) {
    for (const char* const name : {"a", "b", "c"}) want(name);
    ASSERT_TRUE(pass().good());
    want("a", "1", policy("apply", how));
    ASSERT_TRUE(pass().good());
    restart();
    wanted.erase("a.yaml");
    for (int turn = 0; turn < 3; ++turn) {
      const PassReport report = pass();
      EXPECT_TRUE(report.good()) << summary_of(report);
      EXPECT_EQ(action(report, "a"), "left") << how;
      EXPECT_EQ(value("a"), "1") << how;
      restart();
    }
  }
}

TEST_F(KubeKeepTest, WhatIsWrittenAgainIsPrunedAgain) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  pass();
  EXPECT_TRUE(inventory().at("data").as_object().contains("kept"));
  want("a");
  pass();
  EXPECT_FALSE(inventory().at("data").as_object().contains("kept"));
  wanted.erase("a.yaml");
  EXPECT_EQ(action(pass(), "a"), "pruned");
}

TEST_F(KubeKeepTest, WhoAsksForPruningIsPruned) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "if-not-present") + ", " + policy("prune", "yes"));
  pass();
  wanted.erase("a.yaml");
  EXPECT_EQ(action(pass(), "a"), "pruned");
}

/// The set has said that it stays, and nobody else can let it go.
TEST_F(KubeKeepTest, WhoeverChangesWhatTheObjectSaysDoesNotLetItGo) {
  for (const bool before : {true, false}) {
    for (const char* const said : {"", "yes"}) {
      for (const char* const name : {"b", "c"}) want(name);
      want("a", "1", policy("prune", "no"));
      ASSERT_TRUE(pass().good());
      if (before) annotate("a", "prune", said);
      wanted.erase("a.yaml");
      restart();
      if (!before) EXPECT_EQ(action(pass(), "a"), "left");
      annotate("a", "prune", said);
      for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(action(pass(), "a"), "left") << said;
      want("a", "1", policy("prune", "yes"));
      ASSERT_TRUE(pass().good());
      wanted.erase("a.yaml");
      EXPECT_EQ(action(pass(), "a"), "pruned") << "its manifest has said so";
    }
  }
}

TEST_F(KubeKeepTest, NeitherDoesAManifestThatSaysTwiceThatItStays) {
  for (const char* const how : {"ignore", "if-not-present"}) {
    for (const char* const name : {"b", "c"}) want(name);
    want("a", "1", policy("prune", "no"));
    ASSERT_TRUE(pass().good());
    want("a", "1", policy("prune", "no") + ", " + policy("apply", how));
    ASSERT_TRUE(pass().good());
    wanted.erase("a.yaml");
    ASSERT_TRUE(pass().good());
    annotate("a", "prune", "");
    EXPECT_EQ(action(pass(), "a"), "left") << how;
  }
}

// He has said so, and takes it back.
TEST_F(KubeKeepTest, WhatSomebodyElseWantsKeptIsKeptWhileHeSaysSo) {
  for (const char* const name : {"a", "b", "c"}) want(name, "1", policy("conflict", "force"));
  ASSERT_TRUE(pass().good());
  wanted.erase("a.yaml");
  annotate("a", "prune", "no");
  EXPECT_EQ(action(pass(), "a"), "left");
  annotate("a", "prune", "");
  EXPECT_EQ(action(pass(), "a"), "pruned");
}

TEST_F(KubeKeepTest, WhatIsGoneIsForgotten) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  pass();
  wanted.erase("a.yaml");
  kube.objects.erase(path_of("a"));
  EXPECT_TRUE(pass().good());
  EXPECT_FALSE(inventory().at("data").as_object().contains("kept"));
  want("a");
  pass();
  wanted.erase("a.yaml");
  EXPECT_EQ(action(pass(), "a"), "pruned") << "one of that name that was made later is another one";
}

// It was forgotten in a pass that did not see it, and pruned in the next one that did.
TEST_F(KubeKeepTest, WhatIsOnlyOutOfSightIsNotForgotten) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  pass();
  wanted.erase("a.yaml");
  json::object& live = kube.objects.at(path_of("a"));
  const json::value labels = live.at("metadata").at("labels");
  live.at("metadata").as_object().erase("labels");
  kube.touch(live);
  EXPECT_TRUE(pass().good());
  live.at("metadata").as_object()["labels"] = labels;
  kube.touch(live);
  EXPECT_EQ(action(pass(), "a"), "left");
}

TEST_F(KubeKeepTest, WhatNobodyCouldListIsNoted) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (!call.url.contains("labelSelector")) return std::nullopt;
    return FakeKube::status(403, "Forbidden", "no");
  };
  EXPECT_FALSE(pass().good());
  kube.before = nullptr;
  wanted.erase("a.yaml");
  EXPECT_EQ(action(pass(), "a"), "left");
}

TEST_F(KubeKeepTest, ADryPassKeepsItTooAndNotesNothing) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  pass(true);
  EXPECT_FALSE(inventory().at("data").as_object().contains("kept"));
  pass();
  wanted.erase("a.yaml");
  EXPECT_EQ(action(pass(true), "a"), "left");
}

TEST_F(KubeKeepTest, WithoutTheNoteNothingThatIsThereIsPruned) {
  for (const char* const name : {"a", "b", "c", "d", "e"}) want(name);
  pass();
  want("a", "1", policy("apply", "ignore"));
  pass();
  kube.objects.erase(inventory_path("kube-system", "k8s"));
  wanted.erase("a.yaml");
  wanted.erase("b.yaml");
  for (int turn = 0; turn < 3; ++turn) {
    const PassReport report = pass();
    EXPECT_TRUE(report.good()) << summary_of(report);
    EXPECT_EQ(action(report, "a"), "left");
    EXPECT_EQ(action(report, "b"), "left");
    restart();
  }
  wanted.erase("c.yaml");
  EXPECT_EQ(action(pass(), "c"), "pruned") << "it was wanted when there was a note again";
}

TEST_F(KubeKeepTest, ANoteThatSomebodySpoiledPrunesNothing) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  wanted.erase("c.yaml");
  for (const char* const spoiled :
       {R"({"kinds": "v1 Config-Map"})", R"({"kinds": "v1/ ConfigMap"})",
        R"({"kinds": "v1 ConfigMap\n", "kept": "a"})",
        R"({"kinds": "v1 ConfigMap\n", "kept": "[{}]"})",
        R"({"kinds": "v1 ConfigMap\n", "kept": "[1]"})"}) {
    inventory()["data"] = json::parse(spoiled);
    kube.touch(inventory());
    const PassReport report = pass();
    ASSERT_EQ(report.faults.size(), 1U) << spoiled;
    EXPECT_EQ(value("c"), "1") << spoiled;
    EXPECT_EQ(inventory().at("data"), json::parse(spoiled));
  }
}

}  // namespace
}  // namespace wardmote::act::reconcile
