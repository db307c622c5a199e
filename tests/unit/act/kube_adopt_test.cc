// Objects that others own, and orders to take them over.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::ForeignObject;

class KubeAdoptTest : public KubeTargetTest {
 protected:
  json::object& theirs(std::string_view more = "") {
    return kube.put(
        path_of("a"),
        std::string(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
      "namespace": "default", "managedFields": [
        {"manager": "kubectl-create", "operation": "Update"},
        {"manager": "kubectl-create", "operation": "Update", "subresource": "x"},
        {"manager": "helm", "operation": "Apply"}])") +
            std::string(more) + R"(}, "data": {"a": "theirs"}})");
  }
  std::string uid() const {
    return std::string(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string());
  }
  static std::optional<ForeignObject> foreign(const PassReport& report) {
    for (const ObjectReport& one : report.touched) {
      if (one.object == "ConfigMap default/a") return one.foreign;
    }
    return std::nullopt;
  }
};

TEST_F(KubeAdoptTest, AnOrderTakesOverTheVeryObjectAndNoOther) {
  theirs();
  kube.put(path_of("b"), R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "b", "namespace": "default"}, "data": {"a": "theirs"}})");
  want("a");
  want("b");
  PassReport report = pass();
  ASSERT_TRUE(foreign(report));
  EXPECT_EQ(foreign(report)->uid, uid());
  EXPECT_EQ(foreign(report)->managers, (std::vector<std::string>{"kubectl-create", "helm"}));
  EXPECT_EQ(foreign(report)->refusal, "");
  adopt = {{"ConfigMap default/a", "uid-of-another"}};
  EXPECT_EQ(action(pass(), "a"), "failed") << "it was made anew since";
  EXPECT_EQ(value("a"), "theirs");
  adopt = {{"ConfigMap default/a", uid()}};
  report = pass();
  EXPECT_EQ(action(report, "a"), "changed");
  EXPECT_EQ(action(report, "b"), "failed");
  EXPECT_EQ(value("a"), "1");
  EXPECT_EQ(value("b"), "theirs");
  adopt.clear();
  want("a", "2");
  EXPECT_EQ(action(pass(), "a"), "changed") << "it is ours from now on";
}

TEST_F(KubeAdoptTest, WhatIsNotClearlyFreeIsSaidToBeSomebodys) {
  want("a");
  theirs(R"(, "labels": {"reconcile.wardmote.io/set": "other"})");
  EXPECT_EQ(foreign(pass())->refusal, "it belongs to the set 'other'");
  adopt = {{"ConfigMap default/a", uid()}};
  EXPECT_EQ(action(pass(), "a"), "failed") << "not even on order";
  theirs(R"(, "ownerReferences": [{"kind": "Node", "name": "n"},
    {"kind": "Widget", "name": "w", "controller": true}])");
  EXPECT_EQ(foreign(pass())->refusal, "Widget w controls it, and would change it back");
  adopt = {{"ConfigMap default/a", uid()}};
  EXPECT_EQ(action(pass(), "a"), "failed") << "the owner came after the order";
  EXPECT_EQ(value("a"), "theirs");
  theirs(R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")");
  EXPECT_EQ(foreign(pass())->refusal, "somebody deletes it, and a finalizer holds it");
}

/// Its policy is not to force, and somebody orders it once.
TEST_F(KubeAdoptTest, FieldsOfAnotherManagerAreTakenOverOnOrder) {
  want("a", "1", policy("conflict", "fail"));
  pass();
  want("a", "2", policy("conflict", "fail"));
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a") || call.url.contains("force")) return std::nullopt;
    return FakeKube::status_of(409, "Conflict", "FieldManagerConflict",
                               "conflict with \"kubectl-edit\"", ".data.a");
  };
  const PassReport report = pass();
  EXPECT_EQ(action(report, "a"), "failed");
  ASSERT_TRUE(foreign(report));
  EXPECT_EQ(foreign(report)->refusal, "");
  EXPECT_EQ(value("a"), "1");
  adopt = {{"ConfigMap default/a", uid()}};
  const PassReport taken = pass();
  EXPECT_EQ(action(taken, "a"), "changed");
  EXPECT_TRUE(why(taken, "a").starts_with("took over .data.a")) << why(taken, "a");
  EXPECT_EQ(value("a"), "2");
}

}  // namespace
}  // namespace wardmote::act::reconcile
