#include "act/notify/kubernetes.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/act/channel_fixture.h"

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Keeps events as an API server does: versions that must fit, names that are taken. Answers what
/// it is told to instead, if anything. `tests/integration/test_kubernetes.py` asks a real one.
class FakeApiServer final : public runtime::HttpClient {
 public:
  Task<Result<HttpResponse>> call(HttpCall call, Deadline) override {
    calls.push_back(call);
    if (before) std::exchange(before, nullptr)();
    if (!answers.empty()) {
      std::optional<Result<HttpResponse>> answer = std::move(answers.front());
      answers.pop_front();
      if (answer) co_return *std::move(answer);
    }
    co_return serve(call);
  }

  HttpResponse serve(const HttpCall& call) {
    if (call.method == "POST") {
      json::object event = json::parse(call.body).as_object();
      const std::string name(event.at("metadata").at("name").as_string());
      if (events.contains(name)) return {.status = 409, .body = R"({"kind": "Status"})"};
      put(name, std::move(event));
      return {.status = 201};
    }
    const std::string name = call.url.substr(call.url.rfind('/') + 1);
    const auto found = events.find(name);
    if (found == events.end()) return {.status = 404};
    if (call.method == "PATCH") {
      const json::object patch = json::parse(call.body).as_object();
      const json::object& metadata = patch.at("metadata").as_object();
      json::object event = found->second;
      json::object& own = event.at("metadata").as_object();
      if (metadata.at("resourceVersion") != own.at("resourceVersion")) return {.status = 409};
      own["annotations"] = metadata.at("annotations");
      for (const char* field : {"message", "lastTimestamp", "count"})
        event[field] = patch.at(field);
      put(name, std::move(event));
    }
    return {.status = 200, .body = json::serialize(events.at(name))};
  }
  void put(const std::string& name, json::object event) {
    event.at("metadata").as_object()["resourceVersion"] = std::to_string(++versions);
    events[name] = std::move(event);
  }
  [[nodiscard]] const json::object& only() const { return events.begin()->second; }

  std::map<std::string, json::object> events;
  std::deque<std::optional<Result<HttpResponse>>> answers;  ///< nothing: serve this one
  std::function<void()> before;                             ///< once
  std::vector<HttpCall> calls;
  int versions = 100;
};

class KubernetesTest : public ChannelTest {
 protected:
  KubernetesTest() {
    options.server = "https://api:6443";
    options.trust = "/ca";
    options.kind = "Node";
    options.version = "v1";
    options.name_label = "node";
    notice.group = "k8s{root=cluster:nb}";
    notice.number = 7;
    notice.receiver = "k8s";
    add(17, NoticeKind::kOpened);
  }
  void add(std::int64_t id, NoticeKind kind) {
    NoticeItem item;
    item.kind = kind;
    item.labels = {{"node", "ctl-1"}};
    item.incident.id = id;
    item.incident.root = "cluster:nb";
    item.incident.code = judge::Code::kRaftNoQuorum;
    item.incident.severity = judge::Severity::kCritical;
    item.incident.summary = "1 of 3 voters \x1b[31malive";
    item.incident.opened = us.now() - 1min;
    if (kind == NoticeKind::kResolved) {
      item.incident.phase = Phase::kResolved;
      item.incident.resolved = us.now();
    }
    notice.items.push_back(std::move(item));
  }
  void next(NoticeKind kind) {
    ++notice.number;
    notice.items.clear();
    add(17, kind);
  }
  DeliveryResult send() {
    if (!channel_) channel_.emplace(us, api, options, "ctl-1", [this] { return token; });
    return run_task(world, us, channel_->send(notice, us.deadline_in(15s)));
  }
  std::set<std::string> reasons() const {
    std::set<std::string> all;
    for (const auto& [name, event] : api.events) {
      all.emplace(std::string(event.at("type").as_string()) + "/" +
                  std::string(event.at("reason").as_string()));
    }
    return all;
  }

  FakeApiServer api;
  Result<std::string> token = "TOKEN";
  KubernetesOptions options;

 private:
  std::optional<KubernetesChannel> channel_;
};

TEST_F(KubernetesTest, ABeginningIsAWarningOfTheNode) {
  ASSERT_TRUE(send());
  ASSERT_EQ(api.calls.size(), 1U);
  EXPECT_EQ(api.calls[0].url, "https://api:6443/api/v1/namespaces/default/events");
  EXPECT_EQ(api.calls[0].trust, "/ca");
  EXPECT_EQ(header(api.calls[0], "Authorization"), "Bearer TOKEN");
  const json::object& event = api.only();
  EXPECT_EQ(event.at("involvedObject"),
            json::parse(R"({"apiVersion":"v1","kind":"Node","name":"ctl-1","uid":"ctl-1"})"));
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("reason"), "RaftNoQuorum");
  EXPECT_EQ(event.at("message"), "cluster:nb: 1 of 3 voters \\x1b[31malive (incident 17 of ctl-1)");
  EXPECT_TRUE(std::string_view(event.at("metadata").at("name").as_string()).starts_with("ctl-1."));
}

TEST_F(KubernetesTest, ANoticeThatComesTwiceIsOneEventCountedOnce) {
  ASSERT_TRUE(send());
  ASSERT_TRUE(send()) << "we died before we knew";
  EXPECT_EQ(api.events.size(), 1U);
  EXPECT_EQ(api.only().at("count"), 1);
  next(NoticeKind::kOngoing);
  ASSERT_TRUE(send());
  ASSERT_TRUE(send());
  EXPECT_EQ(api.events.size(), 1U);
  EXPECT_EQ(api.only().at("count"), 2);
}

TEST_F(KubernetesTest, TheEndIsAnEventOfItsOwn) {
  ASSERT_TRUE(send());
  next(NoticeKind::kResolved);
  ASSERT_TRUE(send());
  EXPECT_EQ(reasons(),
            (std::set<std::string>{"Warning/RaftNoQuorum", "Normal/RaftNoQuorumResolved"}));
}

TEST_F(KubernetesTest, OneThatKubernetesHasForgottenIsMadeAnew) {
  ASSERT_TRUE(send());
  next(NoticeKind::kOngoing);
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 409});
  api.answers.emplace_back(std::nullopt);
  const json::object kept = api.only();
  api.events.clear();  // between the answer that it is there and the look at it
  ASSERT_TRUE(send());
  EXPECT_EQ(api.only().at("metadata").at("name"), kept.at("metadata").at("name"));
  EXPECT_EQ(api.only().at("count"), 1);
}

TEST_F(KubernetesTest, WhoChangesItAtTheSameTimeIsNotOverwritten) {
  ASSERT_TRUE(send());
  next(NoticeKind::kOngoing);
  api.answers.emplace_back(std::nullopt);                                // POST: it is there
  api.answers.emplace_back(std::nullopt);                                // GET
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 409});  // PATCH: it was changed
  ASSERT_TRUE(send());
  EXPECT_EQ(api.calls.size(), 1U + 6U);
  EXPECT_EQ(api.only().at("count"), 2);
  for (int i = 0; i < 9; ++i) api.answers.emplace_back(std::nullopt);
  next(NoticeKind::kOngoing);
  for (const std::size_t patch : {2U, 5U, 8U}) api.answers[patch] = HttpResponse{.status = 409};
  const DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
}

TEST_F(KubernetesTest, ATokenThatWasRenewedMeanwhileIsTriedOnce) {
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 401});
  api.before = [this] { token = "RENEWED"; };
  ASSERT_TRUE(send());
  ASSERT_EQ(api.calls.size(), 2U);
  EXPECT_EQ(header(api.calls[1], "Authorization"), "Bearer RENEWED");
  EXPECT_EQ(header(api.calls[1], "Content-Type"), "application/json");
}

TEST_F(KubernetesTest, WhoIsNotLetInIsTriedAgainAndHearsWhy) {
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 401, .body = "Unauthorized"});
  DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_EQ(api.calls.size(), 1U) << "the same token would be refused again";
  EXPECT_FALSE(result.error().for_ever);
  api.answers.emplace_back(
      std::in_place,
      HttpResponse{.status = 403,
                   .body = R"({"kind": "Status", "message": "ann cannot create events"})"});
  result = send();
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
  EXPECT_EQ(result.error().reason, "kubernetes: HTTP 403: ann cannot create events");
  token = fail(Errc::kInvalid, "/t: it is empty");
  result = send();
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever) << "somebody writes it just now";
}

TEST_F(KubernetesTest, WhatIsWrongForEverAndWhatIsBusy) {
  api.answers.emplace_back(
      std::in_place,
      HttpResponse{.status = 404,
                   .body = R"({"kind": "Status", "message": "namespaces \"x\" not found"})"});
  EXPECT_TRUE(send().error().for_ever);
  HttpResponse busy{.status = 429};
  busy.headers.emplace_back("retry-after", "7");
  api.answers.emplace_back(busy);
  EXPECT_EQ(send().error().retry_after, 7s);
  api.answers.emplace_back(std::in_place, fail(Errc::kTimeout, "no answer"));
  EXPECT_FALSE(send().error().for_ever);
  // An answer that is no event says nothing of what is there.
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 409});
  api.answers.emplace_back(std::in_place, HttpResponse{.status = 200, .body = "<html>"});
  EXPECT_FALSE(send().error().for_ever);
}

TEST_F(KubernetesTest, AnotherObjectInItsNamespace) {
  options.kind = "StatefulSet";
  options.version = "apps/v1";
  options.space = "kube-system";
  options.object = "ovn-central";
  ASSERT_TRUE(send());
  EXPECT_EQ(api.calls[0].url, "https://api:6443/api/v1/namespaces/kube-system/events");
  EXPECT_EQ(
      api.only().at("involvedObject"),
      json::parse(
          R"({"apiVersion":"apps/v1","kind":"StatefulSet","name":"ovn-central","namespace":"kube-system"})"));
}

TEST_F(KubernetesTest, ALabelThatNamesNothingKeepsTheOthersFromNothing) {
  add(18, NoticeKind::kOpened);
  notice.items.front().labels["node"] = "No Such";
  notice.items.back().labels.clear();
  const DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().for_ever);
  ASSERT_EQ(api.events.size(), 1U);
  EXPECT_EQ(api.only().at("involvedObject").at("name"), "ctl-1") << "the agent's own node";
}

TEST_F(KubernetesTest, LongNamesAndMessagesAreCut) {
  notice.items.front().labels["node"] = std::string(250, 'n');
  notice.items.front().incident.summary = std::string(5000, 'x');
  notice.items.front().incident.root = std::string(5000, 'r');
  ASSERT_TRUE(send());
  EXPECT_TRUE(
      std::string_view(api.only().at("metadata").at("name").as_string()).starts_with("wardmote."));
  EXPECT_LE(api.only().at("message").as_string().size(), 1024U);
}

TEST_F(KubernetesTest, ATestSaysThatItIsOne) {
  notice.items.front().incident.id = 0;
  notice.items.front().incident.severity = judge::Severity::kInfo;
  ASSERT_TRUE(send());
  EXPECT_EQ(reasons(), (std::set<std::string>{"Normal/Test"}));
}

TEST(CamelCase, IsHowKubernetesWritesReasons) {
  EXPECT_EQ(camel_case("RAFT_NO_QUORUM"), "RaftNoQuorum");
  EXPECT_EQ(camel_case("STORM"), "Storm");
  EXPECT_EQ(camel_case(""), "");
}

}  // namespace
}  // namespace wardmote::act::notify
