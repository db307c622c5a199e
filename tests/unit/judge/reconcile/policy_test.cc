#include "judge/reconcile/policy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/result.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {
namespace {

using Annotations = std::map<std::string, std::string>;

Annotations notes(const Annotations& short_names) {
  Annotations whole;
  for (const auto& [key, value] : short_names) whole[std::string(kAnnotationPrefix) + key] = value;
  return whole;
}

const ObjectId kMap{.kind = "ConfigMap", .space = "s", .name = "a"};
const ObjectId kSpace{.kind = "Namespace", .name = "s"};
const ObjectId kDefinition{
    .group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .name = "d"};

TEST(Policy, EachWordIsRead) {
  EXPECT_EQ(read_policy({}), Policy{});
  const auto read = read_policy(notes({{"apply", "if-not-present"},
                                       {"conflict", "fail"},
                                       {"on-immutable", "recreate"},
                                       {"prune", "no"},
                                       {"adopt", "yes"}}));
  EXPECT_EQ(read, (Policy{.apply = Policy::Apply::kIfNotPresent,
                          .force = false,
                          .recreate = true,
                          .prune = false,
                          .adopt = true}));
  EXPECT_EQ(read_policy(notes({{"apply", "ignore"}}))->apply, Policy::Apply::kIgnore);
  EXPECT_EQ(read_policy(notes({{"apply", "override"},
                               {"conflict", "force"},
                               {"on-immutable", "fail"},
                               {"prune", "yes"},
                               {"adopt", "no"}})),
            Policy{});
}

TEST(Policy, ATypingErrorDoesNotBecomeTheDefault) {
  for (const char* const key : {"apply", "conflict", "on-immutable", "prune", "adopt", "other"}) {
    const auto read = read_policy(notes({{key, "Yes"}}));
    ASSERT_FALSE(read) << key;
    EXPECT_EQ(read.error().code, Errc::kInvalid);
    EXPECT_TRUE(read.error().context.contains(key)) << read.error().context;
  }
  EXPECT_EQ(read_policy({{"example.org/apply", "x"}}), Policy{}) << "it is somebody else's";
  EXPECT_EQ(read_policy({{std::string(kDigestAnnotation), "abc"}}), Policy{});
}

TEST(Policy, WhatIsKeptWhenItsManifestIsGone) {
  EXPECT_FALSE(keeps(kMap, {}));
  EXPECT_FALSE(keeps(kMap, notes({{"prune", "yes"}})));
  EXPECT_TRUE(keeps(kMap, notes({{"prune", "no"}})));
  EXPECT_TRUE(keeps(kMap, notes({{"apply", "ignore"}})));
  EXPECT_TRUE(keeps(kMap, notes({{"prune", "perhaps"}}))) << "what cannot be read";
  // What its manifest says later does not reach it.
  EXPECT_TRUE(keeps(kMap, notes({{"apply", "if-not-present"}})));
  EXPECT_FALSE(keeps(kMap, notes({{"apply", "if-not-present"}, {"prune", "yes"}})));
  for (const ObjectId& id : {kSpace, kDefinition}) {
    EXPECT_TRUE(holds_others(id));
    EXPECT_TRUE(keeps(id, {}));
    EXPECT_FALSE(keeps(id, notes({{"prune", "yes"}})));
  }
  EXPECT_FALSE(holds_others(kMap));
  EXPECT_FALSE(holds_others({.group = "example.org", .kind = "Namespace", .name = "s"}));
}

}  // namespace
}  // namespace wardmote::judge::reconcile
