#include "codec/kubernetes.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr WallTime kAt{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

KubernetesEvent sample() {
  KubernetesEvent event;
  event.name = "ctl-1.0123456789abcdef";
  event.space = "default";
  event.kind = "Node";
  event.version = "v1";
  event.object = "ctl-1";
  event.uid = "ctl-1";
  event.reason = "RaftNoQuorum";
  event.message = "no quorum";
  event.warning = true;
  event.first = kAt + 1500ms;
  event.last = kAt + 61s;
  event.component = "wardmote";
  event.instance = "ctl-1";
  event.notice = "k8s{root=cluster:nb}#7";
  return event;
}

// Fields and their places are those of core/v1 Event in the API reference; times are metav1.Time.
TEST(KubernetesEvents, AreWrittenInTheFormThatKubectlShows) {
  EXPECT_EQ(json::parse(format_kubernetes_event(sample())), json::parse(R"({
    "apiVersion": "v1", "kind": "Event",
    "metadata": {"name": "ctl-1.0123456789abcdef", "namespace": "default",
                 "annotations": {"wardmote/notice": "k8s{root=cluster:nb}#7"}},
    "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "ctl-1", "uid": "ctl-1"},
    "reason": "RaftNoQuorum", "message": "no quorum", "type": "Warning",
    "firstTimestamp": "2026-11-20T00:00:01Z", "lastTimestamp": "2026-11-20T00:01:01Z", "count": 1,
    "source": {"component": "wardmote", "host": "ctl-1"},
    "reportingComponent": "wardmote", "reportingInstance": "ctl-1"})"));
  KubernetesEvent pod = sample();
  pod.namespaced = true;
  pod.space = "kube-system";
  pod.uid.clear();
  pod.warning = false;
  const json::object body = json::parse(format_kubernetes_event(pod)).as_object();
  EXPECT_EQ(body.at("involvedObject").at("namespace"), "kube-system");
  EXPECT_FALSE(body.at("involvedObject").as_object().contains("uid"));
  EXPECT_EQ(body.at("type"), "Normal");
}

TEST(KubernetesEvents, ARepetitionCountsOnWhatWasReadAndOnNothingNewer) {
  const auto state = parse_kubernetes_event(R"({"kind": "Event", "metadata": {
      "resourceVersion": "412", "annotations": {"wardmote/notice": "a#1"}}, "count": 4})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->notice, "a#1");
  EXPECT_EQ(json::parse(format_kubernetes_repeat(sample(), *state)), json::parse(R"({
    "metadata": {"resourceVersion": "412", "annotations": {"wardmote/notice": "k8s{root=cluster:nb}#7"}},
    "message": "no quorum", "lastTimestamp": "2026-11-20T00:01:01Z", "count": 5})"));
}

TEST(KubernetesEvents, WhatOthersWroteHasNoNoticeAndAnyCount) {
  const std::string head = R"({"kind": "Event", "metadata": {"resourceVersion": "1"})";
  EXPECT_EQ(parse_kubernetes_event(head + "}")->count, 0);
  EXPECT_EQ(parse_kubernetes_event(head + R"(, "count": -3})")->count, 0);
  EXPECT_EQ(parse_kubernetes_event(head + R"(, "count": "many"})")->count, 0);
  const auto most = parse_kubernetes_event(head + R"(, "count": 9000000000})");
  ASSERT_TRUE(most);
  EXPECT_EQ(json::parse(format_kubernetes_repeat(sample(), *most)).at("count"), 2147483647);
  EXPECT_EQ(most->notice, "");
}

TEST(KubernetesEvents, WhatIsNoneIsRefused) {
  for (const char* body :
       {"", "[]", "{}", R"({"kind": "Event"})", R"({"kind": "Event", "metadata": 1})",
        R"({"kind": "Status", "metadata": {"resourceVersion": "1"}})",
        R"({"kind": "Event", "metadata": {"resourceVersion": 1}})", R"({"kind": "Eve)"}) {
    EXPECT_FALSE(parse_kubernetes_event(body)) << body;
  }
}

TEST(KubernetesStatus, SaysWhyInOneSentence) {
  EXPECT_EQ(
      kubernetes_message(R"({"kind": "Status", "message": "events is forbidden", "code": 403})"),
      "events is forbidden");
  EXPECT_EQ(kubernetes_message("502 from a proxy"), "502 from a proxy");
  EXPECT_EQ(kubernetes_message(R"({"kind": "Status", "message": 3})"), "");
}

TEST(KubernetesNames, AreSubdomainsOfRfc1123) {
  for (const char* good : {"a", "ctl-1", "ctl-1.example.org", "0"}) {
    EXPECT_TRUE(is_kubernetes_name(good)) << good;
  }
  for (const std::string& bad : {std::string(), std::string("Ctl"), std::string("-a"),
                                 std::string("a-"), std::string("a..b"), std::string("a_b"),
                                 std::string("a/b"), std::string("a b"), std::string(254, 'a')}) {
    EXPECT_FALSE(is_kubernetes_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace wardmote::codec
