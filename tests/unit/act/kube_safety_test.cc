// What must not be written, nor shown, whatever happens between a kube-apiserver and us.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/kube_fence.h"
#include "judge/reconcile/report.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

TEST_F(KubeTargetTest, AfterAnAnswerThatNeverCameItReadsAgain) {
  want("a");
  pass();
  want("a", "2");
  kube.after = [](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a")) return std::nullopt;
    return fail(Errc::kTimeout, "silence");
  };
  PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "a"), "changed");
  EXPECT_EQ(why(report, "a"), "no answer came; it was read again, and is as it should be");
  want("a", "3");
  kube.before = std::exchange(kube.after, nullptr);
  report = pass();
  EXPECT_EQ(action(report, "a"), "failed");
  EXPECT_EQ(value("a"), "2");
  EXPECT_EQ(std::ranges::count_if(kube.calls,
                                  [](const HttpCall& call) { return is(call, "PATCH", "a"); }),
            3)
      << "once in each pass";
}

/// Seen at a real one that was killed: each of 300 objects was asked for with all patience.
TEST_F(KubeTargetTest, APassEndsWhenTheServerIsGone) {
  for (int number = 0; number < 50; ++number) want("m" + std::to_string(number));
  int writes = 0;
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (call.method == "PATCH" && !call.url.contains("wardmote-set")) ++writes;
    if (writes < 10) return std::nullopt;
    return fail(Errc::kRefused, "nobody listens");
  };
  const TimePoint begun = us.now();
  const PassReport report = pass();
  EXPECT_FALSE(report.good());
  EXPECT_EQ(report.faults, std::vector<std::string>{"the server does not answer any more; 33 of 50 "
                                                    "objects were not looked at"});
  EXPECT_LT(us.now() - begun, 30s);
  EXPECT_EQ(writes, 10);
  kube.before = nullptr;
  EXPECT_TRUE(pass().good());
}

TEST_F(KubeTargetTest, AFewObjectsOfOneRankAreWrittenAtATime) {
  for (int number = 10; number < 30; ++number) want("m" + std::to_string(number));
  wanted["space.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: s}\n";
  for (const std::string name : {"r1", "r2"})
    wanted[name + ".yaml"] =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + name +
        "}\n";
  std::vector<std::string> under_way;
  std::size_t most = 0;
  std::vector<std::string> mixed;
  const auto kind_of = [](const HttpCall& call) {
    const std::string path = call.url.substr(0, call.url.find('?'));
    const std::string folder = path.substr(0, path.rfind('/'));
    return folder.substr(folder.rfind('/') + 1);
  };
  const auto is_write = [](const HttpCall& call) {
    return call.method == "PATCH" && !call.url.contains("wardmote-set");
  };
  kube.takes = [&](const HttpCall& call) -> Duration {
    if (!is_write(call)) return {};
    under_way.push_back(kind_of(call));
    most = std::max(most, under_way.size());
    if (std::ranges::count(under_way, under_way.back()) != std::ssize(under_way))
      mixed.push_back(call.url);
    // Others end in another order than they began.
    return under_way.size() % 2 == 0 ? 10ms : 30ms;
  };
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (is_write(call)) under_way.erase(std::ranges::find(under_way, kind_of(call)));
    return std::nullopt;
  };
  const PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(most, 8U);
  EXPECT_EQ(mixed, std::vector<std::string>());
  std::vector<std::string> said;
  for (const ObjectReport& one : report.touched) said.push_back(one.object);
  ASSERT_EQ(said.size(), 23U);
  std::vector<std::string> maps(said.begin() + 1, said.begin() + 21);
  EXPECT_TRUE(said[0].contains("Namespace")) << said[0];
  EXPECT_TRUE(std::ranges::is_sorted(maps) && maps[0].ends_with("/m10")) << "as in the pass";
  EXPECT_TRUE(said[22].ends_with("r2")) << said[22];
}

/// It tells whether the others are of use.
TEST_F(KubeTargetTest, TheFirstWriteIsAlone) {
  for (int number = 10; number < 30; ++number) want("m" + std::to_string(number));
  pass();  // which writes what there is of the set
  for (int number = 10; number < 30; ++number) want("m" + std::to_string(number), "2");
  int writes = 0;
  kube.takes = [](const HttpCall&) -> Duration { return 50ms; };
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "PATCH" || call.url.contains("wardmote-set")) return std::nullopt;
    ++writes;
    return FakeKube::status(422, "Invalid", std::string("denied: ").append(codec::kFenceRefusal));
  };
  const PassReport report = pass();
  EXPECT_EQ(report.faults.size(), 1U) << summary_of(report);
  EXPECT_EQ(writes, 1);
}

/// While one waits until its kind is served, another is being written whose kind goes.
TEST_F(KubeTargetTest, AKindThatWasKnownStaysKnownInAPass) {
  kube.versions["/apis/apiextensions.k8s.io/v1"] =
      R"({"resources":[{"name":"customresourcedefinitions","kind":"CustomResourceDefinition","namespaced":false,"verbs":["list","delete","patch"]}]})";
  const std::string v =
      R"({"name":"vs","kind":"V","namespaced":true,"verbs":["list","delete","patch"]})";
  const std::string w =
      R"({"name":"ws","kind":"W","namespaced":true,"verbs":["list","delete","patch"]})";
  kube.versions["/apis/x.io/v1"] = R"({"resources":[)" + v + "]}";
  wanted["crd.yaml"] =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
      "ws.x.io}\nspec: {group: x.io, scope: Namespaced, names: {kind: W, plural: ws}}\n";
  for (const std::string kind : {"V", "W"})
    wanted[kind + ".yaml"] =
        "apiVersion: x.io/v1\nkind: " + kind + "\nmetadata: {name: one}\nspec: {a: 1}\n";
  kube.takes = [&](const HttpCall& call) -> Duration {
    const bool of_v = call.url.contains("/vs/one") && call.method == "GET";
    if (of_v) kube.versions["/apis/x.io/v1"] = R"({"resources":[)" + w + "]}";
    return of_v ? 2s : 0s;
  };
  const PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_TRUE(kube.objects.contains("/apis/x.io/v1/namespaces/default/vs/one"));
  EXPECT_TRUE(kube.objects.contains("/apis/x.io/v1/namespaces/default/ws/one"));
}

/// What one of those that are under way is told later does not undo it.
TEST_F(KubeTargetTest, NothingIsBegunOnceTheServerIsGone) {
  for (int number = 10; number < 30; ++number) want("m" + std::to_string(number));
  kube.takes = [](const HttpCall& call) -> Duration {
    if (call.method != "GET" || is(call, "GET", "m10") || !call.url.contains("/m")) return {};
    return is(call, "GET", "m11") ? 0s : 60s;
  };
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (is(call, "GET", "m11")) return fail(Errc::kRefused, "nobody listens");
    if (call.method != "GET" || is(call, "GET", "m10") || !call.url.contains("/m"))
      return std::nullopt;
    return FakeKube::status(403, "Forbidden", "no");
  };
  const PassReport report = pass();
  EXPECT_EQ(report.faults, std::vector<std::string>{"the server does not answer any more; 11 of 20 "
                                                    "objects were not looked at"});
}

TEST_F(KubeTargetTest, ADeletionWithoutAnAnswerIsReadAgainToo) {
  want("a");
  want("b");
  pass();
  wanted.erase("b.yaml");
  const auto silence = [](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "DELETE") return std::nullopt;
    return fail(Errc::kClosed, "silence");
  };
  kube.before = silence;
  EXPECT_EQ(action(pass(), "b"), "failed");
  EXPECT_EQ(value("b"), "1");
  kube.before = nullptr;
  kube.after = silence;
  EXPECT_EQ(action(pass(), "b"), "pruned");
  EXPECT_EQ(value("b"), "none");
}

TEST_F(KubeTargetTest, WhatAFinalizerHoldsIsNotCalledGone) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  kube.objects.at(path_of("b")).at("metadata").as_object()["finalizers"] = json::array{"x/y"};
  wanted.erase("b.yaml");
  const PassReport report = pass();
  EXPECT_EQ(action(report, "b"), "pruned");
  EXPECT_TRUE(why(report, "b").contains("it is being deleted, and a finalizer"))
      << why(report, "b");
  wanted.erase("c.yaml");
  const PassReport next = pass();
  EXPECT_EQ(action(next, "b"), "left");
  EXPECT_EQ(why(next, "b"),
            "no manifest wants it; it is being deleted, since 2026-01-01T00:00:00Z, and a "
            "finalizer holds it");
  EXPECT_EQ(why(next, "c"), "no manifest wants it");
}

TEST_F(KubeTargetTest, WhatChangedSinceItWasListedIsReadAnew) {
  want("a");
  pass();
  want("a", "2");
  bool raced = false;
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (is(call, "PATCH", "a") && !std::exchange(raced, true))
      kube.touch(kube.objects.at(path_of("a")));
    return std::nullopt;
  };
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(value("a"), "2");
}

TEST_F(KubeTargetTest, EachWriteIsForTheVersionThatWasRead) {
  want("a");
  pass();
  const std::string version(
      kube.objects.at(path_of("a")).at("metadata").at("resourceVersion").as_string());
  want("a", "2");
  pass();
  const auto sent =
      std::ranges::find_if(kube.calls.rbegin(), kube.calls.rend(),
                           [](const HttpCall& call) { return is(call, "PATCH", "a"); });
  EXPECT_EQ(json::parse(sent->body).at("metadata").at("resourceVersion").as_string(), version);
}

TEST_F(KubeTargetTest, WhoMayNotWriteAnyMoreSendsNothing) {
  for (const char* const name : {"a", "b", "c", "gone"}) want(name);
  pass();
  wanted.erase("gone.yaml");
  for (const char* const name : {"a", "b", "c"}) want(name, "2");
  const TimePoint end = us.now() + 1h;
  write_until = [&] { return value("a") == "2" ? std::nullopt : std::optional(end); };
  kube.calls.clear();
  const PassReport report = pass();
  EXPECT_FALSE(report.good());
  EXPECT_EQ(value("a"), "2");
  EXPECT_EQ(value("b"), "1");
  EXPECT_EQ(value("gone"), "1");
  EXPECT_TRUE(why(report, "b").contains("this agent may not write any more")) << why(report, "b");
  for (const HttpCall& call : kube.calls) {
    if (call.method == "GET") continue;
    EXPECT_TRUE(is(call, "PATCH", "a") || call.url.contains("wardmote-set")) << call.url;
    EXPECT_EQ(call.send_before, end) << call.url;
  }
}

TEST_F(KubeTargetTest, AWriteThatIsRepeatedIsAskedForAgain) {
  want("a");
  bool may = true;
  write_until = [&] { return may ? std::optional(us.now() + 1h) : std::nullopt; };
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a")) return std::nullopt;
    may = false;
    return FakeKube::status(429, "TooManyRequests", "later");
  };
  pass();
  EXPECT_EQ(std::ranges::count_if(kube.calls,
                                  [](const HttpCall& call) { return is(call, "PATCH", "a"); }),
            1);
}

TEST_F(KubeTargetTest, ACreationThatComesLateChangesNothing) {
  want("a");
  want("b");
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a")) return std::nullopt;
    kube.before = nullptr;
    kube.put(path_of("a"), R"({"apiVersion": "v1", "kind": "ConfigMap",
      "metadata": {"name": "a", "namespace": "default"}, "data": {"a": "theirs"}})");
    return std::nullopt;
  };
  const PassReport report = pass();
  EXPECT_EQ(action(report, "a"), "failed");
  EXPECT_TRUE(why(report, "a").starts_with("it was not created by this set")) << why(report, "a");
  EXPECT_EQ(value("a"), "theirs");
  EXPECT_EQ(value("b"), "1");
}

TEST_F(KubeTargetTest, AKindThatTakesNoVersionIsCreatedWithoutOne) {
  want("a");
  kube.before = [&](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a") || !call.body.contains("resourceVersion")) return std::nullopt;
    return FakeKube::status(500, "", "resourceVersion should not be set on objects to be created");
  };
  EXPECT_EQ(action(pass(), "a"), "created");
  EXPECT_EQ(value("a"), "1");
}

/// A typing error quotes the value, of whatever kind the object is. The field stays named.
TEST_F(KubeTargetTest, TheValueThatAServerCouldNotTypeIsNotRepeated) {
  wanted["s.yaml"] =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {pin: 81234567}\n";
  const auto says = [&](const std::string& message) {
    kube.before = [message](const HttpCall& call) -> FakeKube::Answer {
      if (call.method != "PATCH" || !call.url.contains("configmaps/s?")) return std::nullopt;
      return FakeKube::status(500, "", message);
    };
    return why(pass(), "s");
  };
  const std::string fault =
      ".data.pin: expected string, got &value.valueUnstructured{Value:81234567}";
  for (const char* const before :
       {"", "failed to create typed patch object: ",
        "failed to create typed patch object (default/s; v1, Kind=ConfigMap): "})
    EXPECT_EQ(says(before + fault), "HTTP 500: .data.pin: expected string") << before;
  EXPECT_EQ(
      says("failed to create typed patch object: .spec.replica: field not declared in schema"),
      "HTTP 500: .spec.replica: field not declared in schema");
  for (const char* const other :
       {"failed to create typed patch object: errors:\n  .data.pin: 81234567", "81234567",
        "failed to create typed patch object", ".data.pin: 81234567"})
    EXPECT_EQ(says(other), "it was not applied: HTTP 500") << other;
  EXPECT_EQ(says(R"(.spec.users[token="81234567\"]",n=81234567].role: expected string, got 1)"),
            "HTTP 500: .spec.users[…].role: expected string")
      << "by what items of a list are told apart are values";
}

/// What a server says of an object may quote its values: that is for operators, who see diffs too.
TEST_F(KubeTargetTest, WhatAServerQuotesIsForOperatorsOnly) {
  wanted["s.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {p: MINE}\n";
  const auto answers = [&](int status, const std::string& words) {
    kube.before = [status, words](const HttpCall& call) -> FakeKube::Answer {
      if (call.method != "PATCH" || !call.url.contains("configmaps/s?")) return std::nullopt;
      if (status == 422)
        return FakeKube::status_of(422, "Invalid", "FieldValueInvalid", words, "data[p]");
      return FakeKube::status(status, "MINE", words);
    };
    const PassReport report = pass();
    return std::pair(why(report, "s"), report.touched.front().words);
  };
  EXPECT_EQ(answers(422, ""),
            std::pair(std::string("HTTP 422 Invalid: data[p] (FieldValueInvalid)"),
                      std::string("see the cause")));
  for (const auto& [status, words] :
       {std::pair(400, "cannot unmarshal MINE"),
        std::pair(403, "admission webhook \"w\" denied the request: MINE"),
        std::pair(403, "configmaps \"s\" is forbidden: exceeded MINE"), std::pair(500, "MINE"),
        std::pair(401, "admission webhook \"w\" denied the request: MINE"),
        std::pair(404, "admission webhook \"w\" denied the request: MINE"),
        std::pair(409, "admission webhook \"w\" denied the request: MINE"),
        std::pair(403,
                  "admission webhook \"w\" denied the request: x is forbidden: User \"MINE\"")}) {
    const auto [why, shown] = answers(status, words);
    EXPECT_FALSE(why.contains("MINE")) << why;
    EXPECT_EQ(shown, words);
  }
  const std::string plain =
      "configmaps \"s\" is forbidden: User \"u\" cannot patch resource \"configmaps\"";
  EXPECT_EQ(answers(403, plain), std::pair("HTTP 403: " + plain, std::string()));
}

/// It was called pruned.
TEST_F(KubeTargetTest, ADeletionThatIsDeniedAsNotFoundIsNone) {
  for (const char* const name : {"a", "b", "c"}) want(name);
  pass();
  wanted.erase("c.yaml");
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "DELETE") return std::nullopt;
    return FakeKube::status(404, "NotFound", "admission webhook \"w\" denied the request: no");
  };
  const PassReport report = pass();
  EXPECT_EQ(action(report, "c"), "failed");
  EXPECT_FALSE(report.good());
}

/// Reference 4: who writes after an answer of 500 does not know whether it was done.
TEST_F(KubeTargetTest, WhatWasDoneThoughTheServerSaysThatItFailedIsReadAgain) {
  want("a");
  kube.before = [this](const HttpCall& call) -> FakeKube::Answer {
    if (!is(call, "PATCH", "a") || call.url.contains("dryRun")) return std::nullopt;
    kube.before = nullptr;
    HttpCall copy = call;
    static_cast<void>(kube.serve(copy));
    return FakeKube::status(500, "InternalError", "etcdserver: request timed out");
  };
  const PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "a"), "created");
}

TEST_F(KubeTargetTest, WhatAServerQuotesOfASecretIsNotRepeated) {
  wanted["s.yaml"] =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: 'x'\nstringData: {p: TOPSECRET}\n";
  const auto answers = [&](const FakeKube::Answer& answer) {
    kube.before = [answer](const HttpCall& call) -> FakeKube::Answer {
      if (call.method != "PATCH" || !call.url.contains("secrets")) return std::nullopt;
      return answer;
    };
    const PassReport report = pass();
    EXPECT_EQ(report.touched.front().words, "");
    return why(report, "s");
  };
  EXPECT_EQ(answers(FakeKube::status(500, "", ".data: expected map, got &{TOPSECRET}")),
            "HTTP 500");
  EXPECT_EQ(answers(FakeKube::status_of(422, "Invalid", "FieldValueInvalid",
                                        "Invalid value: TOPSECRET", "data[p]")),
            "HTTP 422 Invalid: data[p] (FieldValueInvalid)");
  EXPECT_EQ(answers(FakeKube::status(403, "Forbidden", "admission denied TOPSECRET")),
            "HTTP 403 Forbidden");
}

TEST_F(KubeTargetTest, TheDigestOfASecretSaysNothingOfItsValues) {
  const auto secret = [](const std::string& value) {
    return "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: '" + value + "'}\n";
  };
  const auto digest = [&] {
    return std::string(kube.objects.at("/api/v1/namespaces/default/secrets/s")
                           .at("metadata")
                           .at("annotations")
                           .at("reconcile.wardmote.io/digest")
                           .as_string());
  };
  wanted["s.yaml"] = secret("one");
  pass();
  const std::string before = digest();
  wanted["s.yaml"] = secret("two");
  EXPECT_EQ(action(pass(), "s"), "changed");
  EXPECT_EQ(digest(), before);
  restart();
  wanted["s.yaml"] = secret("three");
  EXPECT_EQ(action(pass(), "s"), "changed");
}

TEST_F(KubeTargetTest, NoSecretIsInTheReport) {
  wanted["s.yaml"] =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: TOPSECRET}\n";
  PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  wanted["s.yaml"] =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: OTHERSECRET}\n";
  report = pass();
  ASSERT_EQ(report.touched.size(), 1U);
  EXPECT_TRUE(report.touched[0].diff.contains("*** (before)")) << report.touched[0].diff;
  for (const char* const hidden : {"TOPSECRET", "VE9QU0VDUkVU", "OTHERSECRET", "T1RIRVJTRUNSRVQ="})
    EXPECT_FALSE(report.touched[0].diff.contains(hidden));
}

/// To apply it would fail; the dry pass promised it.
TEST_F(KubeTargetTest, ADryPassPromisesNoObjectWhoseNamespaceNobodyMakes) {
  wanted["a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n";
  kube.before = [](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "PATCH" || !call.url.contains("/namespaces/nowhere/")) return std::nullopt;
    return FakeKube::status(404, "NotFound", "namespaces \"nowhere\" not found");
  };
  PassReport report = pass(true);
  EXPECT_EQ(action(report, "a"), "failed");
  EXPECT_TRUE(
      why(report, "a").contains("namespace nowhere is neither on the server nor in this set"))
      << why(report, "a");
  EXPECT_FALSE(report.good());
  wanted["n.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: nowhere}\n";
  report = pass(true);
  EXPECT_EQ(action(report, "a"), "created") << why(report, "a");
}

TEST_F(KubeTargetTest, CredentialsThatAreNoneAreSaidToBeSo) {
  want("a");
  tree.files["/k/token"] = " \n";
  PassReport report = pass();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_TRUE(report.faults[0].contains("the token file token is empty")) << report.faults[0];
  options.login.kubeconfig = "/k/config:/k/other";
  restart();
  report = pass();
  EXPECT_TRUE(report.faults.at(0).contains("a list of kubeconfigs is not read; name one"))
      << report.faults[0];
}

}  // namespace
}  // namespace wardmote::act::reconcile
