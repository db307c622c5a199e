// A server that checks each write against the token of the newest leader.
// tests/unit/act/fake_policies.h says what of it is a fake.
#include "act/reconcile/kube_fence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/reconcile/kube_target.h"
#include "judge/reconcile/fence.h"
#include "judge/reconcile/report.h"
#include "runtime/http_client.h"
#include "unit/act/fake_policies.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::FenceReport;
using judge::reconcile::FenceWish;

class KubeFenceTest : public KubeTargetTest {
 protected:
  KubeFenceTest() {
    options.fence = FenceWish::kAuto;
    kube.before = [this](const HttpCall& call) { return policies.check(call); };
  }
  [[nodiscard]] std::string token() const {
    const json::value* const found = kube.data(FakePolicies::kToken, "token");
    return found == nullptr ? "none" : std::string(found->as_string());
  }
  PassReport lead(std::int64_t with) {
    token_ = with;
    return pass();
  }
  FakePolicies policies{kube};
};

TEST_F(KubeFenceTest, ALeaderRaisesTheFenceBeforeItWritesAnythingElse) {
  want("a");
  const PassReport report = lead(10);
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(report.fence, (FenceReport{.kind = FenceReport::Kind::kPolicy, .token = 10}));
  EXPECT_EQ(token(), "10");
  EXPECT_TRUE(policies.has("policies") && policies.has("policybindings"));
  EXPECT_EQ(value("a"), "1");
  // What is of the set is sent as the user whose writes are checked; the fence is the account's.
  for (const HttpCall& call : kube.calls) {
    const std::string as = FakePolicies::header(call, "Impersonate-User");
    const bool of_fence =
        call.url.contains("wardmote-fence") || call.url.ends_with(FakePolicies::kApi);
    if (of_fence && !call.url.contains("dryRun"))
      EXPECT_EQ(as, "") << call.method << call.url;
    else
      EXPECT_EQ(as, "wardmote:k8s") << call.method << call.url;
  }
  const auto first_of = [&](std::string_view what) {
    return std::ranges::find_if(kube.calls, [what](const HttpCall& call) {
      return call.method == "PATCH" && call.url.contains(what);
    });
  };
  EXPECT_LT(first_of("wardmote-fence"), first_of("wardmote-set"));
  // As measured at a real 1.33.
  const json::object& policy = kube.objects.at(FakePolicies::path("policies"));
  EXPECT_EQ(policy.at("spec").at("validations").at(0).at("expression").as_string(),
            "'fence' in request.userInfo.extra && int(request.userInfo.extra['fence'][0]) >= "
            "int(params.data.token)");
  EXPECT_EQ(policy.at("spec").at("matchConditions").at(0).at("expression").as_string(),
            "request.userInfo.username == 'wardmote:k8s'");
  EXPECT_EQ(policy.at("spec").at("matchConstraints"),
            json::parse(R"({"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
              "operations": ["CREATE", "UPDATE", "DELETE"], "resources": ["*"]}]})"));
  EXPECT_EQ(kube.objects.at(FakePolicies::path("policybindings")).at("spec"),
            json::parse(R"({"policyName": "wardmote-fence-k8s", "validationActions": ["Deny"],
              "paramRef": {"name": "wardmote-fence-k8s", "namespace": "kube-system",
              "parameterNotFoundAction": "Deny"}})"));
}

TEST_F(KubeFenceTest, AFenceThatStandsIsNotWrittenAgain) {
  want("a");
  lead(10);
  kube.writes = 0;
  EXPECT_TRUE(lead(10).good());
  EXPECT_EQ(kube.writes, 0);
  EXPECT_TRUE(lead(12).good());
  EXPECT_EQ(kube.writes, 1) << "the token alone";
  EXPECT_EQ(token(), "12");
}

TEST_F(KubeFenceTest, AnEarlierLeaderWritesNothing) {
  want("a");
  lead(10);
  want("a", "2");
  kube.writes = 0;
  const PassReport report = lead(9);
  EXPECT_FALSE(report.good());
  EXPECT_EQ(report.fence.kind, FenceReport::Kind::kUnknown);
  EXPECT_TRUE(report.faults.at(0).contains("it stands at token 10, and this leader has 9"))
      << report.faults.at(0);
  EXPECT_EQ(kube.writes, 0);
  EXPECT_EQ(value("a"), "1");
}

/// A later one raises it while this one is in the middle of its pass.
TEST_F(KubeFenceTest, WhatAnEarlierLeaderStillSendsIsRefusedByTheServer) {
  for (const char* const name : {"a", "b", "c", "gone"}) want(name);
  lead(10);
  wanted.erase("gone.yaml");
  for (const char* const name : {"a", "b", "c"}) want(name, "2");
  kube.before = [this](const HttpCall& call) {
    if (is(call, "PATCH", "b")) {
      json::object& fence = kube.objects.at(FakePolicies::kToken);
      fence.at("data").as_object()["token"] = "11";
    }
    return policies.check(call);
  };
  const PassReport report = lead(10);
  EXPECT_FALSE(report.good());
  EXPECT_EQ(value("a"), "2");
  EXPECT_EQ(value("b"), "1");
  EXPECT_EQ(value("c"), "1");
  EXPECT_EQ(value("gone"), "1");
  EXPECT_FALSE(report.unreachable);
  EXPECT_TRUE(why(report, "b").contains("a later leader has raised the fence")) << why(report, "b");
  EXPECT_EQ(report.faults.at(0),
            "the server refuses what this leader writes: a later one has raised the fence; 1 of 3 "
            "objects were not looked at");
}

TEST_F(KubeFenceTest, ADeletionOfAnEarlierLeaderIsRefusedToo) {
  want("a");
  want("gone");
  lead(10);
  wanted.erase("gone.yaml");
  kube.before = [this](const HttpCall& call) {
    if (call.method == "DELETE")
      kube.objects.at(FakePolicies::kToken).at("data").as_object()["token"] = "11";
    return policies.check(call);
  };
  EXPECT_FALSE(lead(10).good());
  EXPECT_EQ(value("gone"), "1");
}

TEST_F(KubeFenceTest, TwoThatRaiseItAtOnceEndWithTheHigherToken) {
  want("a");
  lead(10);
  kube.before = [this, raced = false](const HttpCall& call) mutable -> FakeKube::Answer {
    if (is(call, "PATCH", "wardmote-fence-k8s") && !std::exchange(raced, true)) {
      json::object& fence = kube.objects.at(FakePolicies::kToken);
      fence.at("data").as_object()["token"] = "13";
      kube.touch(fence);
    }
    return policies.check(call);
  };
  EXPECT_FALSE(lead(12).good());
  EXPECT_EQ(token(), "13");
}

TEST_F(KubeFenceTest, WhatSomebodyDeletedOrLoweredIsPutUpAgain) {
  want("a");
  for (const std::string& lost : {std::string(FakePolicies::kToken), FakePolicies::path("policies"),
                                  FakePolicies::path("policybindings")}) {
    EXPECT_TRUE(lead(10).good());
    kube.objects.erase(lost);
    EXPECT_TRUE(lead(10).good()) << lost;
    EXPECT_TRUE(kube.objects.contains(lost));
  }
  kube.objects.at(FakePolicies::kToken).at("data").as_object()["token"] = "3";
  EXPECT_TRUE(lead(10).good());
  EXPECT_EQ(token(), "10");
}

TEST_F(KubeFenceTest, ATokenThatNobodyCanReadIsTakenForALaterOne) {
  lead(10);
  kube.objects.at(FakePolicies::kToken).at("data").as_object()["token"] = "ten";
  want("a");
  const PassReport report = lead(10);
  EXPECT_TRUE(report.faults.at(0).contains("nobody can read its token")) << report.faults.at(0);
  EXPECT_EQ(value("a"), "none");
}

TEST_F(KubeFenceTest, APolicyThatWasNarrowedHoldsNothing) {
  want("a");
  lead(10);
  const auto spoil = [&](const std::string& path, std::string_view at, std::string_view with) {
    json::object& spec = kube.objects.at(path).at("spec").as_object();
    json::object& part = at.empty() ? spec : spec.at(at).as_object();
    part[with] = json::object{{"matchLabels", json::object{{"x", "y"}}}};
  };
  const std::string policy = FakePolicies::path("policies");
  const std::string binding = FakePolicies::path("policybindings");
  const json::object good_policy = kube.objects.at(policy);
  const json::object good_binding = kube.objects.at(binding);
  const auto expect_refused = [&] {
    want("a", "2");
    const PassReport report = lead(10);
    ASSERT_EQ(report.faults.size(), 1U);
    EXPECT_TRUE(report.faults[0].contains("has fields of somebody else that narrow it"))
        << report.faults[0];
    EXPECT_EQ(value("a"), "1");
    kube.objects[policy] = good_policy;
    kube.objects[binding] = good_binding;
  };
  for (const char* const key : {"namespaceSelector", "objectSelector", "excludeResourceRules"}) {
    spoil(policy, "matchConstraints", key);
    expect_refused();
  }
  json::object& rule = kube.objects.at(policy)
                           .at("spec")
                           .at("matchConstraints")
                           .at("resourceRules")
                           .at(0)
                           .as_object();
  rule["resourceNames"] = json::array{"x"};
  // The fake merges lists as a whole, as the server does with rules: then ours is there again.
  want("a", "1");
  EXPECT_TRUE(lead(10).good());
  spoil(binding, "", "matchResources");
  expect_refused();
  spoil(binding, "paramRef", "selector");
  expect_refused();
  kube.objects.at(policy).at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  expect_refused();
}

/// Discovery has the kinds, and the plugin is off.
TEST_F(KubeFenceTest, AFenceThatTheServerDoesNotHeedIsNone) {
  policies.heeds = false;
  want("a");
  const PassReport report = lead(10);
  EXPECT_FALSE(report.good());
  EXPECT_TRUE(report.faults.at(0).contains("does not heed wardmote-fence-k8s"))
      << report.faults.at(0);
  EXPECT_EQ(value("a"), "none");
}

TEST_F(KubeFenceTest, AServerThatHearsOfItLateIsWaitedFor) {
  policies.heeds = false;
  want("a");
  int tries = 0;
  kube.before = [&](const HttpCall& call) {
    if (call.url.contains("dryRun") && ++tries == 5) policies.heeds = true;
    return policies.check(call);
  };
  EXPECT_TRUE(lead(10).good());
  EXPECT_EQ(tries, 5);
  EXPECT_EQ(value("a"), "1");
}

TEST_F(KubeFenceTest, WhoMayNotBeTheCheckedUserIsToldWhichRightIsMissing) {
  policies.may_impersonate = false;
  want("a");
  const PassReport report = lead(10);
  EXPECT_TRUE(report.faults.at(0).contains("the user wardmote:k8s: HTTP 403"))
      << report.faults.at(0);
  EXPECT_FALSE(report.unreachable);
  EXPECT_EQ(value("a"), "none");
}

TEST_F(KubeFenceTest, AServerWithoutPoliciesIsWrittenToWithoutOneUnlessItIsRequired) {
  // As 1.20 answers.
  kube.versions[std::string(FakePolicies::kApi)] = R"({"resources":[
{"name":"validatingwebhookconfigurations","kind":"ValidatingWebhookConfiguration","namespaced":false,"verbs":["list"]}]})";
  want("a");
  PassReport report = lead(10);
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(report.fence.kind, FenceReport::Kind::kWait);
  EXPECT_EQ(token(), "none");
  EXPECT_TRUE(std::ranges::none_of(kube.calls, [](const HttpCall& call) {
    return !FakePolicies::header(call, "Impersonate-User").empty();
  }));
  options.fence = FenceWish::kRequire;
  restart();
  want("a", "2");
  report = lead(10);
  EXPECT_TRUE(report.faults.at(0).contains("'fence: require' demands them")) << report.faults.at(0);
  EXPECT_EQ(value("a"), "1");
}

TEST_F(KubeFenceTest, WhatTheServerDoesNotSayIsNoNo) {
  want("a");
  for (const int status : {403, 500}) {
    kube.before = [status](const HttpCall& call) -> FakeKube::Answer {
      if (!call.url.ends_with(FakePolicies::kApi)) return std::nullopt;
      return FakeKube::status(status, "", "no");
    };
    const PassReport report = lead(10);
    EXPECT_TRUE(report.faults.at(0).contains("whether the server has admission policies: HTTP"))
        << report.faults.at(0);
    EXPECT_FALSE(report.unreachable);
    EXPECT_EQ(value("a"), "none");
  }
  kube.before = [](const HttpCall&) -> FakeKube::Answer { return fail(Errc::kRefused, "nobody"); };
  EXPECT_TRUE(lead(10).unreachable);
}

TEST_F(KubeFenceTest, ADryPassWritesNothingAndLooksAsTheLeaderWould) {
  want("a");
  PassReport report = pass(true);
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(report.fence, (FenceReport{.kind = FenceReport::Kind::kPolicy, .token = 0}));
  EXPECT_EQ(kube.writes, 0);
  lead(10);
  want("a", "2");
  kube.writes = 0;
  report = pass(true);
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "a"), "changed");
  EXPECT_EQ(report.fence.token, 10);
  EXPECT_EQ(kube.writes, 0);
  EXPECT_EQ(policies.refused, 1) << "the proof of the leader alone";
}

TEST_F(KubeFenceTest, NobodyIsAskedWhenNoFenceIsWished) {
  options.fence = FenceWish::kNone;
  want("a");
  const PassReport report = lead(10);
  EXPECT_TRUE(report.good());
  EXPECT_EQ(report.fence.kind, FenceReport::Kind::kNone);
  EXPECT_TRUE(std::ranges::none_of(
      kube.calls, [](const HttpCall& call) { return call.url.ends_with(FakePolicies::kApi); }));
}

TEST_F(KubeFenceTest, TheFenceIsNotWrittenPastTheLeaseEither) {
  write_until = [] { return std::optional<TimePoint>(); };
  want("a");
  EXPECT_FALSE(lead(10).good());
  EXPECT_EQ(token(), "none");
  EXPECT_EQ(kube.writes, 0);
}

}  // namespace
}  // namespace wardmote::act::reconcile
