// What is sent to each service, compared with what the service publishes (tests/data/receivers).
#include "act/notify/services/service.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/services/requests.h"
#include "support/test_data.h"
#include "unit/act/channel_fixture.h"
#include "unit/config/schema_validator.h"

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const Service& service(std::string_view name) {
  return *std::ranges::find(services(), name, &Service::name);
}

json::object data(const std::string& file) {
  std::ifstream in(std::filesystem::path(WARDMOTE_TEST_DATA) / "receivers" / file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  return json::parse(text).as_object();
}

bool valid(const std::string& schema, const json::value& body) {
  const json::object root = data(schema + ".schema.json");
  return testing::SchemaValidator(root).valid(body);
}

/// Answers with each of `answers` in turn, the last one again and again.
class FakeHttp final : public runtime::HttpClient {
 public:
  Task<Result<HttpResponse>> call(HttpCall call, Deadline) override {
    calls.push_back(std::move(call));
    const std::size_t at = std::min(calls.size(), answers.size()) - 1;
    co_return HttpResponse{.status = answers[at]};
  }
  std::vector<int> answers = {200};
  std::vector<HttpCall> calls;
};

class Services : public ChannelTest {
 protected:
  Services() {
    notice.group = "r{root=cluster:nb}";
    notice.number = 3;
    notice.receiver = "r";
    notice.items.push_back(item(17, NoticeKind::kOpened));
  }

  NoticeItem item(std::int64_t id, NoticeKind kind) {
    NoticeItem made;
    made.kind = kind;
    made.labels = {{"root", "cluster:nb"}, {"node", "ctl-1"}, {"severity", "critical"}};
    made.known_as = made.labels;
    made.incident.id = id;
    made.incident.root = "cluster:nb";
    made.incident.severity = judge::Severity::kCritical;
    made.incident.code = judge::Code::kRaftNoQuorum;
    made.incident.summary = "a <!channel> \"quoted\" \x1b[31m*word* & line";
    made.incident.opened = made.incident.since = us.now() - 1min;
    if (kind == NoticeKind::kResolved || kind == NoticeKind::kUnwatched ||
        kind == NoticeKind::kBrief) {
      made.incident.phase = Phase::kResolved;
      made.incident.resolved = us.now();
    }
    return made;
  }

  ServiceOptions options(std::string_view name) {
    ServiceOptions made;
    made.service = &service(name);
    made.url = made.service->its_url.empty() ? "https://h.example/hook/T0P" : made.service->its_url;
    if (!made.service->token.name.empty()) made.token = {"/f", "TOKEN"};
    if (!made.service->to.name.empty()) made.to = "!room:h";
    return made;
  }

  std::vector<HttpCall> send(ServiceOptions given) {
    http.calls.clear();
    ServiceChannel channel(us, http, std::move(given));
    result = run_task(world, us, channel.send(notice, us.deadline_in(5s)));
    return http.calls;
  }
  std::vector<HttpCall> send(std::string_view name) { return send(options(name)); }

  FakeHttp http;
  DeliveryResult result;
};

TEST(ServiceData, EveryPublishedExampleIsValidByThePublishedSchema) {
  for (const Service& each : services()) {
    const std::string name(each.name);
    if (name == "telegram") continue;  // publishes none
    EXPECT_TRUE(valid(name, data(name + ".example.json"))) << name;
  }
}

TEST_F(Services, WhatEachGetsIsValidByItsSchema) {
  for (const NoticeKind kind : {NoticeKind::kOpened, NoticeKind::kChanged, NoticeKind::kResolved,
                                NoticeKind::kUnwatched, NoticeKind::kBrief}) {
    notice.items = {item(17, kind), item(18, NoticeKind::kOpened)};
    notice.left_out = 5;
    for (const Service& each : services()) {
      const std::vector<HttpCall> calls = send(each.name);
      ASSERT_TRUE(result) << each.name;
      ASSERT_FALSE(calls.empty()) << each.name;
      for (const HttpCall& call : calls) {
        const std::string schema =
            call.url.contains("/close?") ? "opsgenie-close" : std::string(each.name);
        EXPECT_TRUE(valid(schema, json::parse(call.body))) << schema << call.body;
        EXPECT_EQ(header(call, "Content-Type"), "application/json");
        EXPECT_FALSE(call.body.contains('\x1b')) << each.name;
        EXPECT_FALSE(call.body.contains("<!channel>") && each.name == "slack") << call.body;
      }
    }
  }
}

TEST_F(Services, EachIsAskedAtItsOwnAddressWithItsOwnKey) {
  struct Expected {
    std::string_view name, method, url, header, value;
  };
  // The addresses and headers that the services document.
  const Expected all[] = {
      {"slack", "POST", "https://h.example/hook/T0P", "", ""},
      {"teams", "POST", "https://h.example/hook/T0P", "", ""},
      {"pagerduty", "POST", "https://events.pagerduty.com/v2/enqueue", "", ""},
      {"opsgenie", "POST", "https://api.opsgenie.com/v2/alerts", "Authorization", "GenieKey TOKEN"},
      {"ntfy", "POST", "https://h.example/hook/", "Authorization", "Bearer TOKEN"},
      {"gotify", "POST", "https://h.example/hook/T0P/message", "X-Gotify-Key", "TOKEN"},
      {"telegram", "POST", "https://api.telegram.org/botTOKEN/sendMessage", "", ""},
      {"matrix", "PUT", "", "Authorization", "Bearer TOKEN"},
  };
  ASSERT_EQ(std::size(all), services().size());
  for (const Expected& expected : all) {
    const HttpCall call = send(expected.name).at(0);
    EXPECT_EQ(call.method, expected.method) << expected.name;
    if (!expected.url.empty()) EXPECT_EQ(call.url, expected.url);
    if (!expected.header.empty()) EXPECT_EQ(header(call, expected.header), expected.value);
  }
}

TEST_F(Services, PagerDutyResolvesWhatItTriggered) {
  const json::object begun = json::parse(send("pagerduty").at(0).body).as_object();
  EXPECT_EQ(begun.at("event_action").as_string(), "trigger");
  EXPECT_EQ(begun.at("routing_key").as_string(), "TOKEN");
  EXPECT_EQ(begun.at("payload").at("severity").as_string(), "critical");
  EXPECT_EQ(begun.at("payload").at("source").as_string(), "ctl-1");
  notice.number = 4;
  notice.items = {item(17, NoticeKind::kResolved)};
  notice.items[0].labels["root"] = "check:libvirtd";  // another cause was found meanwhile
  const json::object ended = json::parse(send("pagerduty").at(0).body).as_object();
  EXPECT_EQ(ended.at("event_action").as_string(), "resolve");
  EXPECT_EQ(begun.at("dedup_key"), ended.at("dedup_key"));
  notice.items = {item(18, NoticeKind::kOpened)};
  const json::object other = json::parse(send("pagerduty").at(0).body).as_object();
  EXPECT_NE(begun.at("dedup_key"), other.at("dedup_key"));
}

TEST_F(Services, OpsGenieClosesTheAliasThatItOpened) {
  const json::object begun = json::parse(send("opsgenie").at(0).body).as_object();
  EXPECT_EQ(begun.at("priority").as_string(), "P1");
  EXPECT_LE(begun.at("message").as_string().size(), 130U);
  notice.items = {item(17, NoticeKind::kResolved)};
  http.answers = {404};
  const std::vector<HttpCall> calls = send("opsgenie");
  EXPECT_TRUE(result) << "somebody has deleted the alert already";
  EXPECT_EQ(calls.at(0).url, "https://api.opsgenie.com/v2/alerts/" +
                                 percent_encoded(std::string(begun.at("alias").as_string())) +
                                 "/close?identifierType=alias");
}

TEST_F(Services, OnCallHearsOfEachIncidentByItself) {
  notice.items = {item(1, NoticeKind::kOpened), item(2, NoticeKind::kOngoing),
                  item(3, NoticeKind::kBrief)};
  for (const char* const name : {"pagerduty", "opsgenie"}) {
    EXPECT_EQ(send(name).size(), 3U) << name << ": 1 begins, 3 begins and ends";
    notice.repeats = true;
    EXPECT_EQ(send(name).size(), 4U) << name << ": 2 is repeated too";
    notice.repeats = false;
  }
}

TEST_F(Services, ARefusalThatMayPassStopsTheRestAndOneForGoodDoesNot) {
  notice.items = {item(1, NoticeKind::kOpened), item(2, NoticeKind::kOpened)};
  http.answers = {429, 202};
  EXPECT_EQ(send("pagerduty").size(), 1U);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
  http.answers = {400, 202};
  EXPECT_EQ(send("pagerduty").size(), 2U);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().for_ever);
}

TEST_F(Services, ATestOfAReceiverLeavesNoAlertBehind) {
  notice.items[0].incident.resolved = us.now() + 1s;  // as Notifier::send_test() makes it
  const std::vector<HttpCall> calls = send("pagerduty");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(json::parse(calls[1].body).at("event_action").as_string(), "resolve");
}

TEST_F(Services, MatrixTakesARepetitionForTheSameMessage) {
  const std::string first = send("matrix").at(0).url;
  EXPECT_TRUE(first.starts_with(
      "https://h.example/hook/T0P/_matrix/client/v3/rooms/%21room%3Ah/send/m.room.message/"));
  EXPECT_EQ(send("matrix").at(0).url, first);
  notice.number = 4;
  EXPECT_NE(send("matrix").at(0).url, first);
}

TEST_F(Services, NtfyGetsTheTopicOfTheAddress) {
  const json::object body = json::parse(send("ntfy").at(0).body).as_object();
  EXPECT_EQ(body.at("topic").as_string(), "T0P");
  EXPECT_EQ(body.at("priority").as_int64(), 5);
  EXPECT_NE(service("ntfy").url_problem("https://ntfy.sh"), "");
  EXPECT_NE(service("ntfy").url_problem("https://ntfy.sh/"), "");
  EXPECT_EQ(service("ntfy").url_problem("https://ntfy.sh/topic"), "");
}

TEST_F(Services, AStormFitsIntoAMessage) {
  notice.items.clear();
  for (int i = 1; i <= 100; ++i) {
    notice.items.push_back(item(i, NoticeKind::kOpened));
    notice.items.back().incident.summary = std::string(5000, 'x') + "ä";
  }
  const json::object slack = json::parse(send("slack").at(0).body).as_object();
  EXPECT_LE(slack.at("blocks").as_array().size(), 50U);
  for (const json::value& block : slack.at("blocks").as_array()) {
    EXPECT_LE(block.at("text").at("text").as_string().size(), 3000U);
  }
  const json::object telegram = json::parse(send("telegram").at(0).body).as_object();
  EXPECT_LE(telegram.at("text").as_string().size(), 4096U);
  EXPECT_LE(send("teams").at(0).body.size(), 28U << 10U) << "Microsoft's limit of a message";
  EXPECT_LE(send("matrix").at(0).body.size(), 64U << 10U) << "the limit of an event";
}

TEST_F(Services, ATemplateIsTheMessage) {
  for (const Service& each : services()) {
    if (!each.takes_text) continue;
    ServiceOptions given = options(each.name);
    given.text = "see {{#incidents}}{{id}} at {{labels.node}}{{/incidents}}";
    EXPECT_TRUE(send(std::move(given)).at(0).body.contains("see 17 at ctl-1")) << each.name;
  }
}

TEST(Cut, KeepsCharactersWhole) {
  EXPECT_EQ(cut("short", 10), "short");
  EXPECT_EQ(cut("0123456789a", 10), "0123456…");
  EXPECT_EQ(cut("012345ä789a", 10), "012345…") << "half of it would be no UTF-8";
}

}  // namespace
}  // namespace wardmote::act::notify
