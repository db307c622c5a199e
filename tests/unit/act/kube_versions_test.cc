// A kind whose version is served no more, at a fake apiserver: its objects are there in the others.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

constexpr std::string_view kGroup = "/apis/example.org";

std::string things(const std::string& version) {
  return fmt::format("{}/{}/namespaces/default/things/t", kGroup, version);
}

/// One `Thing` of the set, which was written as `v1beta1`, and four others, so that one is less
/// than half of all.
class KubeVersionsTest : public KubeTargetTest {
 protected:
  KubeVersionsTest() {
    serve("v1beta1");
    for (const char* const name : {"a", "b", "c", "d"}) want(name);
    want_thing("v1beta1");
  }
  void want_thing(const std::string& version) {
    wanted["thing.yaml"] = fmt::format(
        "apiVersion: example.org/{}\nkind: Thing\nmetadata: {{name: t}}\nspec: {{a: 1}}\n",
        version);
  }
  /// In this version alone, with all that was made in others.
  void serve(const std::string& version) {
    kube.versions.erase(std::string(kGroup) + "/" + std::exchange(served, version));
    kube.versions[std::string(kGroup) + "/" + version] =
        R"({"resources":[{"name":"things","kind":"Thing","namespaced":true,"verbs":["list","delete","patch"]}]})";
    kube.groups[std::string(kGroup)] =
        fmt::format(R"({{"versions":[{{"groupVersion":"example.org/{}"}}]}})", version);
    for (const char* const other : {"v1beta1", "v1"}) {
      auto object = kube.objects.extract(things(other));
      if (object.empty()) continue;
      object.key() = things(version);
      object.mapped()["apiVersion"] = "example.org/" + version;
      kube.objects.insert(std::move(object));
    }
  }
  [[nodiscard]] bool is_there() const { return kube.objects.contains(things(served)); }

  std::string served;
};

TEST_F(KubeVersionsTest, WhatIsLeftOverIsFoundInTheVersionThatIsServed) {
  ASSERT_TRUE(pass().good());
  ASSERT_TRUE(is_there());
  serve("v1");
  restart();
  wanted.erase("thing.yaml");
  const PassReport report = pass();
  EXPECT_EQ(action(report, "t"), "pruned") << why(report, "t");
  EXPECT_FALSE(is_there());
}

TEST_F(KubeVersionsTest, TheManifestOfAnotherVersionKeepsIt) {
  ASSERT_TRUE(pass().good());
  serve("v1");
  restart();
  want_thing("v1");
  EXPECT_TRUE(pass().good());
  EXPECT_TRUE(is_there());
}

TEST_F(KubeVersionsTest, AGroupThatDoesNotAnswerHidesNothing) {
  ASSERT_TRUE(pass().good());
  serve("v1");
  restart();
  wanted.erase("thing.yaml");
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (call.url.ends_with(kGroup)) return FakeKube::status(503, "ServiceUnavailable", "not now");
    return std::nullopt;
  };
  EXPECT_FALSE(pass().good());
  kube.before = nullptr;
  EXPECT_EQ(action(pass(), "t"), "pruned") << "it was not forgotten";
}

TEST_F(KubeVersionsTest, AVersionThatGoesBeforeTheDeletionIsNoObjectThatIsGone) {
  ASSERT_TRUE(pass().good());
  wanted.erase("thing.yaml");
  kube.before = [this](const HttpCall& call) -> FakeKube::Answer {
    if (is(call, "DELETE", "t")) serve("v1");
    return std::nullopt;
  };
  const PassReport report = pass();
  EXPECT_FALSE(report.good());
  EXPECT_EQ(action(report, "t"), "failed");
  EXPECT_TRUE(why(report, "t").contains("not served any more")) << why(report, "t");
  EXPECT_TRUE(is_there());
  kube.before = nullptr;
  EXPECT_EQ(action(pass(), "t"), "pruned");
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace wardmote::act::reconcile
