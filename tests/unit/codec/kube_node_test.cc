#include "codec/kube_node.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace wardmote::codec {
namespace {

namespace json = boost::json;

const KubeCondition kBgp{.type = "BGPUnhealthy",
                         .status = "True",
                         .reason = "BGPFails",
                         .message = "bird: hung",
                         .heartbeat = "2026-11-25T10:00:00Z",
                         .transition = "2026-11-25T09:00:00Z"};

// Fields are those of core/v1 NodeCondition in the API reference.
TEST(KubeNode, ConditionsAreReadAsTheKubeletWritesThem) {
  const json::value node = json::parse(R"({"kind": "Node", "status": {"conditions": [
    {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok",
     "lastHeartbeatTime": "2026-11-25T10:00:01Z", "lastTransitionTime": "2026-11-24T10:00:00Z"},
    {"type": "BGPUnhealthy", "status": "True", "reason": "BGPFails", "message": "bird: hung",
     "lastHeartbeatTime": "2026-11-25T10:00:00Z", "lastTransitionTime": "2026-11-25T09:00:00Z"},
    7, {"status": "True"}]}})");
  const std::vector<KubeCondition> found = read_node_conditions(node.as_object());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].type, "Ready");
  EXPECT_EQ(found[0].heartbeat, "2026-11-25T10:00:01Z");
  EXPECT_EQ(found[1], kBgp);
}

TEST(KubeNode, ANodeWithoutConditionsHasNone) {
  for (const char* const text : {"{}", R"({"status": null})", R"({"status": {"conditions": {}}})"})
    EXPECT_TRUE(read_node_conditions(json::parse(text).as_object()).empty()) << text;
}

TEST(KubeNode, APatchNamesOnlyItsOwnConditions) {
  const std::vector<KubeCondition> written{kBgp};
  const std::vector<std::string> removed{"EtcdUnhealthy"};
  EXPECT_EQ(json::value(make_conditions_patch(written, removed)), json::parse(R"({
    "status": {"conditions": [
      {"type": "BGPUnhealthy", "status": "True", "reason": "BGPFails", "message": "bird: hung",
       "lastHeartbeatTime": "2026-11-25T10:00:00Z", "lastTransitionTime": "2026-11-25T09:00:00Z"},
      {"type": "EtcdUnhealthy", "$patch": "delete"}]}})"));
}

}  // namespace
}  // namespace wardmote::codec
