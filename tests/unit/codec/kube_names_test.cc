#include "codec/kube_names.h"

#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

const std::string kMost(253, 'a');

TEST(KubeNames, OfAnApiVersion) {
  for (const std::string& good : {std::string("v1"), std::string("apps/v1"), "a/" + kMost})
    EXPECT_TRUE(is_api_version(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("/v1"), std::string("apps/"), std::string("a/b/c"),
        std::string("../v1"), std::string("a/.b"), std::string("a_b"), kMost + "a"})
    EXPECT_FALSE(is_api_version(bad)) << bad;
}

TEST(KubeNames, OfAKind) {
  for (const std::string& good :
       {std::string("ConfigMap"), std::string("aZ09"), std::string(63, 'K')})
    EXPECT_TRUE(is_kind(good)) << good;
  for (const std::string& bad : {std::string(), std::string("A/B"), std::string("a-b"),
                                 std::string("a.b"), std::string(64, 'K')})
    EXPECT_FALSE(is_kind(bad)) << bad;
}

/// A part of a path, and nothing more: roles have colons.
TEST(KubeNames, OfAnObject) {
  for (const std::string& good : {std::string("a"), std::string("system:node"), std::string("..a"),
                                  std::string("a_b!"), kMost})
    EXPECT_TRUE(is_object_name(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("%2e"),
        std::string("a b"), std::string("a\x1f"), kMost + "a"})
    EXPECT_FALSE(is_object_name(bad)) << bad;
}

TEST(KubeNames, OfAValue) {
  for (const std::string& good :
       {std::string("a"), std::string("_A-9.x"), std::string(".a"), kMost})
    EXPECT_TRUE(is_data_key(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("..a"), std::string("a b"),
        std::string("a/b"), std::string("a:b"), kMost + "a"})
    EXPECT_FALSE(is_data_key(bad)) << bad;
}

}  // namespace
}  // namespace wardmote::codec
