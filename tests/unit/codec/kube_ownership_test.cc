// What managedFields look like is from kube-apiserver 1.20 (FieldsV1 of k8s.io/apimachinery).
#include "codec/kube_ownership.h"

#include <gtest/gtest.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}

/// An object whose `spec` is `spec`, and of which `fields` are ours.
json::object live(const std::string& spec, const std::string& fields) {
  return object(R"({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "managedFields": [
      {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:from": {}}}},
      {"manager": "us", "operation": "Update", "fieldsV1": {"f:spec": {"f:from": {}}}},
      {"manager": "us", "operation": "Apply", "fieldsV1": {"f:spec": )" +
                fields + R"(}}]}, "spec": )" + spec + "}");
}
json::object wanted(const std::string& spec) {
  return object(R"({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": )" + spec +
                "}");
}

TEST(KubeOwnership, AnAtomicListIsOursAsAWholeOrNotAtAll) {
  const json::object rule = wanted(R"({"from": [{"podSelector": {"a": "b"}}]})");
  EXPECT_TRUE(
      holds(live(R"({"from": [{"podSelector": {"a": "b"}}]})", R"({"f:from": {}})"), rule, "us"));
  // Another manager has added a key to its item: the list contains what we want, and is his.
  const std::string widened = R"({"from": [{"podSelector": {"a": "b"}, "namespaceSelector": {}}]})";
  EXPECT_FALSE(holds(live(widened, R"({"f:other": {}})"), rule, "us"));
  EXPECT_FALSE(holds(live(widened, R"({"f:from": {}})"), rule, "nobody"));
  // What the server has filled in is still ours.
  EXPECT_TRUE(holds(live(widened, R"({"f:from": {}})"), rule, "us"));
}

TEST(KubeOwnership, WhatIsEmptyMayNotBeNarrowed) {
  const json::object all = wanted(R"({"podSelector": {}})");
  EXPECT_TRUE(holds(live(R"({"podSelector": {}})", R"({"f:podSelector": {}})"), all, "us"));
  EXPECT_FALSE(
      holds(live(R"({"podSelector": {"matchLabels": {"a": "b"}}})", R"({"f:podSelector": {}})"),
            all, "us"));
}

TEST(KubeOwnership, AnItemIsFoundByItsKeysAndMayHaveNeighbours) {
  const std::string fields = R"({"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {},
      "f:port": {}, "f:name": {}}}})";
  const json::object one = wanted(R"({"ports": [{"port": 80, "name": "w"}]})");
  EXPECT_TRUE(holds(live(R"({"ports": [{"port": 81, "protocol": "TCP"},
      {"port": 80, "protocol": "TCP", "name": "w"}]})",
                         fields),
                    one, "us"));
  EXPECT_FALSE(holds(live(R"({"ports": [{"port": 80, "protocol": "TCP", "name": "x"}]})", fields),
                     one, "us"));
  EXPECT_FALSE(holds(live(R"({"ports": [{"port": 81, "protocol": "TCP"}]})", fields), one, "us"));
}

TEST(KubeOwnership, ItemsInAnotherOrderAreSaid) {
  const std::string fields = R"({"f:first": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}},
      "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}})";
  const json::object both = wanted(R"({"first": [{"name": "a"}, {"name": "b"}]})");
  const json::object kept =
      live(R"({"first": [{"name": "a"}, {"name": "theirs"}, {"name": "b"}]})", fields);
  EXPECT_TRUE(holds(kept, both, "us"));
  EXPECT_EQ(reordered(kept, both, "us"), "");
  const json::object turned = live(R"({"first": [{"name": "b"}, {"name": "a"}]})", fields);
  EXPECT_FALSE(holds(turned, both, "us"));
  EXPECT_EQ(reordered(turned, both, "us"), ".spec.first");
}

TEST(KubeOwnership, WhereTheServerSaysNothingOfFieldsNothingHolds) {
  const json::object plain = wanted(R"({"a": 1})");
  EXPECT_FALSE(holds(plain, plain, "us"));
  EXPECT_TRUE(owned_fields(plain, "us").empty());
  const json::object all = live(R"({"a": 1})", R"({"f:a": {}})");
  EXPECT_EQ(owned_fields(all, "us"), object(R"({"f:spec": {"f:a": {}}})"));
  EXPECT_TRUE(holds(all, wanted(R"({"a": 1, "b": null})"), "us")) << "null is absent";
}

}  // namespace
}  // namespace wardmote::codec
