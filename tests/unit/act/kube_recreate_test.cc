// Objects that cannot be changed in place, which are deleted and made anew where that is wanted.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

TEST_F(KubeTargetTest, WhatCannotBeChangedIsRecreatedOnlyOnRequest) {
  want("a");
  pass();
  const std::string uid(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string());
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a") || !kube.objects.contains(path_of("a"))) return std::nullopt;
    return FakeKube::status_of(422, "Invalid", "FieldValueInvalid",
                               "Invalid value: \"2\": field is immutable", "data");
  };
  want("a", "2");
  EXPECT_EQ(action(pass(), "a"), "failed");
  EXPECT_EQ(value("a"), "1");
  want("a", "2", policy("on-immutable", "recreate"));
  EXPECT_EQ(action(pass(), "a"), "recreated");
  EXPECT_EQ(value("a"), "2");
  EXPECT_NE(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string(), uid);
}

// Metropolis' own table (reconciler/reconciler_test.go, TestIsImmutableError).
TEST_F(KubeTargetTest, OnlyWhatIsRefusedForNothingElseCannotBeChanged) {
  const json::object immutable{{"reason", "FieldValueInvalid"},
                               {"message", "Invalid value: \"2\": field is immutable"},
                               {"field", "data"}};
  const json::object other{
      {"reason", "FieldValueRequired"}, {"message", "Required value"}, {"field", "data.b"}};
  struct Row {
    int code;
    const char* reason;
    json::array causes;
    bool recreates;
  };
  const std::vector<Row> rows = {
      {500, "InternalError", {}, false},   {409, "Conflict", {immutable}, false},
      {422, "Invalid", {}, false},         {422, "Invalid", {immutable, other}, false},
      {422, "Invalid", {immutable}, true}, {422, "Invalid", {immutable, immutable}, true}};
  want("a");
  pass();
  for (const Row& row : rows) {
    SCOPED_TRACE(&row - rows.data());
    const std::string uid(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string());
    kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
      if (!is(call, "PATCH", "a") || !kube.objects.contains(path_of("a"))) return std::nullopt;
      return FakeKube::status(row.code, row.reason, "field is immutable", row.causes);
    };
    want("a", "2", policy("on-immutable", "recreate"));
    EXPECT_EQ(action(pass(), "a") == "recreated", row.recreates);
    EXPECT_EQ(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string() != uid,
              row.recreates);
    kube.before = nullptr;
    want("a");
    pass();
  }
}

/// What is deleted to be made anew.
class RecreateTest : public KubeTargetTest {
 protected:
  RecreateTest() {
    want("a");
    pass();
    kube.before = [this](const HttpCall& call) -> FakeKube::Answer { return answer(call); };
    want("a", "2", policy("on-immutable", "recreate"));
  }
  FakeKube::Answer answer(const HttpCall& call) {
    const bool there = kube.objects.contains(path_of("a"));
    if (is(call, "DELETE", "a") && somebody_writes) {
      somebody_writes = false;
      kube.objects.at(path_of("a")).at("data").as_object()["a"] = "2";
      kube.touch(kube.objects.at(path_of("a")));
    }
    if (!is(call, "PATCH", "a")) return std::nullopt;
    if (!there && refused-- > 0) return FakeKube::status(503, "ServiceUnavailable", "later");
    if (!there || value("a") == "2") return std::nullopt;
    return FakeKube::status_of(422, "Invalid", "FieldValueInvalid", "field is immutable", "data");
  }
  bool somebody_writes = false;
  int refused = 0;  ///< so many attempts to make it anew
};

TEST_F(RecreateTest, WhatSomebodyHasChangedMeanwhileIsNotDeleted) {
  const std::string uid(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string());
  somebody_writes = true;
  EXPECT_EQ(action(pass(), "a"), "failed");
  const PassReport next = pass();
  EXPECT_TRUE(next.good()) << summary_of(next);
  EXPECT_EQ(kube.objects.at(path_of("a")).at("metadata").at("uid").as_string(), uid);
}

TEST_F(RecreateTest, WhatWasDeletedIsMadeAnewByTheNextPassAlsoAfterARestart) {
  refused = 1000;
  EXPECT_FALSE(pass().good());
  EXPECT_FALSE(kube.objects.contains(path_of("a")));
  restart();
  refused = 0;
  EXPECT_EQ(action(pass(), "a"), "created");
  EXPECT_EQ(value("a"), "2");
}

}  // namespace
}  // namespace wardmote::act::reconcile
