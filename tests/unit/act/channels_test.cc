#include "act/notify/channels.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <expected>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/dispatcher.h"
#include "codec/digest.h"
#include "support/logged.h"
#include "unit/act/channel_fixture.h"

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// A server that answers what it is told to, and remembers what it was asked.
class FakeHttp final : public runtime::HttpClient {
 public:
  Task<Result<HttpResponse>> call(HttpCall call, Deadline) override {
    calls.push_back(std::move(call));
    co_return answer;
  }
  Result<HttpResponse> answer = HttpResponse{};
  std::vector<HttpCall> calls;
};

class Channels : public ChannelTest {
 protected:
  Channels() { notice = sample(Phase::kOpen); }

  Notice sample(Phase phase) {
    Notice made;
    made.group = "oncall{root=cluster:nb}";
    made.number = 3;
    made.receiver = "oncall";
    made.labels = {{"root", "cluster:nb"}};
    NoticeItem item;
    item.kind = phase == Phase::kOpen ? NoticeKind::kOpened : NoticeKind::kResolved;
    item.labels = {{"root", "cluster:nb"}, {"severity", "critical"}, {"code", "RAFT_NO_QUORUM"}};
    item.incident.id = 17;
    item.incident.root = "cluster:nb";
    item.incident.phase = phase;
    item.incident.severity = judge::Severity::kCritical;
    item.incident.code = judge::Code::kRaftNoQuorum;
    item.incident.summary = "a \"quoted\" \x1b[31mword\nand a line";
    item.incident.opened = us.now() - 1min;
    if (phase == Phase::kResolved) item.incident.resolved = us.now();
    made.items.push_back(std::move(item));
    return made;
  }
  DeliveryResult send(Channel& channel) {
    return run_task(world, us, channel.send(notice, us.deadline_in(5s)));
  }

  FakeHttp http;
};

TEST_F(Channels, AWebhookGetsTheWholeNoticeAndAKeyThatStaysTheSame) {
  WebhookChannel channel(us, http, {.url = "http://h/x"});
  ASSERT_TRUE(send(channel));
  const json::object body = json::parse(http.calls.at(0).body).as_object();
  EXPECT_EQ(body.at("key").as_string(), "oncall{root=cluster:nb}#3");
  EXPECT_EQ(body.at("status").as_string(), "open");
  EXPECT_EQ(body.at("incidents").as_array().at(0).at("kind").as_string(), "opened");
  EXPECT_FALSE(http.calls[0].body.contains('\x1b'));
  EXPECT_EQ(header(http.calls[0], "Idempotency-Key"), "oncall{root=cluster:nb}#3");
  EXPECT_EQ(header(http.calls[0], "X-Wardmote-Signature"), "");
}

TEST_F(Channels, ASecretSignsTimeAndBody) {
  WebhookChannel channel(us, http,
                         {.url = "http://h/x", .token = {{}, "tok"}, .secret = {{}, "sec"}});
  ASSERT_TRUE(send(channel));
  const HttpCall& call = http.calls.at(0);
  const std::string signed_text = header(call, "X-Wardmote-Timestamp") + "." + call.body;
  EXPECT_EQ(header(call, "X-Wardmote-Signature"),
            "sha256=" + codec::hex(codec::hmac_sha256("sec", signed_text)));
  EXPECT_EQ(header(call, "Authorization"), "Bearer tok");
}

TEST_F(Channels, ATemplateIsFilledAndStaysJson) {
  WebhookChannel channel(
      us, http,
      {.url = "http://h/x",
       .body_template = R"({"text": "{{title}}", "n": {{number}}, "root": "{{ labels.root }}",
                            "none": "{{labels.x}}", "all": {{incidents}}})"});
  ASSERT_TRUE(send(channel));
  const json::object body = json::parse(http.calls.at(0).body).as_object();
  EXPECT_TRUE(std::string_view(body.at("text").as_string()).contains("a \"quoted\""));
  EXPECT_EQ(body.at("n").as_int64(), 3);
  EXPECT_EQ(body.at("root").as_string(), "cluster:nb");
  EXPECT_EQ(body.at("none").as_string(), "");
  EXPECT_EQ(body.at("all").as_array().size(), 1U);
}

TEST_F(Channels, AnEndThatNobodySawIsNotCalledResolved) {
  WebhookChannel channel(us, http, {.url = "http://h/x"});
  notice.items[0].incident.phase = Phase::kResolved;
  for (const auto& [kind, word] :
       {std::pair(NoticeKind::kResolved, "RESOLVED "), {NoticeKind::kUnwatched, "NOT WATCHED "}}) {
    notice.items[0].kind = kind;
    ASSERT_TRUE(send(channel));
    const json::object body = json::parse(http.calls.back().body).as_object();
    EXPECT_TRUE(std::string_view(body.at("title").as_string()).starts_with(word));
  }
}

struct Verdict {
  Result<HttpResponse> answer;
  bool taken;
  bool for_ever;
};

TEST_F(Channels, WhatAnAnswerMeans) {
  const auto status = [](int code) { return HttpResponse{.status = code}; };
  const Verdict verdicts[] = {
      {status(200), true, false},
      {status(204), true, false},
      {status(301), false, false},
      {status(302), false, false},
      {status(304), false, false},
      {status(308), false, false},
      {status(399), false, false},
      {status(400), false, true},
      {status(401), false, false},
      {status(402), false, true},
      {status(403), false, false},
      {status(404), false, true},
      {status(407), false, false},
      {status(408), false, false},
      {status(429), false, false},
      {status(500), false, false},
      {status(503), false, false},
      {status(0), false, false},
      {status(700), false, false},
      {fail(Errc::kProtocol, "x"), false, false},
      {fail(Errc::kTimeout, "x"), false, false},
      {fail(Errc::kRefused, "x"), false, false},
      {fail(Errc::kClosed, "x"), false, false},
      {fail(Errc::kInvalid, "x"), false, true},
  };
  for (const Verdict& verdict : verdicts) {
    const DeliveryResult result = delivery_result(verdict.answer, us.wall_now());
    const int code = verdict.answer ? verdict.answer->status : 0;
    ASSERT_EQ(result.has_value(), verdict.taken) << code;
    if (!result) EXPECT_EQ(result.error().for_ever, verdict.for_ever) << code;
  }
  HttpResponse busy{.status = 429, .body = "slow \x1b[1mdown"};
  busy.headers.emplace_back("retry-after", " 120 ");
  EXPECT_EQ(delivery_result(busy, us.wall_now()).error().retry_after, 120s);
  EXPECT_EQ(delivery_result(busy, us.wall_now()).error().reason, "HTTP 429: slow \\x1b[1mdown");
}

TEST_F(Channels, ARedirectIsNotFollowedAndSaysWhereItLeadsWithoutItsPath) {
  const auto reason = [&](std::string location) {
    HttpResponse moved{.status = 302, .body = "PAGESECRET"};
    if (!location.empty()) moved.headers.emplace_back("location", std::move(location));
    return delivery_result(moved, us.wall_now()).error().reason;
  };
  const std::string rest =
      ", and redirects are not followed: write the address that answers into the configuration";
  EXPECT_EQ(reason("https://hooks.example.org/PATHSECRET?x=y"),
            "HTTP 302: it redirects to https://hooks.example.org" + rest);
  EXPECT_EQ(reason("https://hooks.example.org:8443/"),
            "HTTP 302: it redirects to https://hooks.example.org:8443" + rest);
  for (const char* elsewhere : {"/PATHSECRET", "", "nonsense\x1b[1m", "ftp://h/PATHSECRET"}) {
    EXPECT_EQ(reason(elsewhere), "HTTP 302: it redirects to another path" + rest);
  }
}

TEST_F(Channels, RetryAfterMayBeADateOfTheServersClock) {
  static constexpr WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
  const auto pause = [](std::string retry, std::string date) {
    HttpResponse busy{.status = 503};
    busy.headers.emplace_back("retry-after", std::move(retry));
    if (!date.empty()) busy.headers.emplace_back("date", std::move(date));
    return delivery_result(busy, kNow).error().retry_after;
  };
  EXPECT_EQ(pause("Fri, 20 Nov 2026 00:01:30 GMT", ""), 90s);
  EXPECT_EQ(pause(" Friday, 20-Nov-26 00:01:30 GMT ", "who knows"), 90s);
  EXPECT_EQ(pause("Thu, 19 Nov 2026 20:01:00 GMT", "Thu, 19 Nov 2026 20:00:00 GMT"), 60s)
      << "its clock is four hours behind ours";
  EXPECT_EQ(pause("Thu, 19 Nov 2026 20:01:00 GMT", ""), 0s) << "the time is past";
  EXPECT_EQ(pause("in a minute", ""), std::nullopt);
}

TEST_F(Channels, AlertmanagerGetsAnAlertWhoseLabelsStayTheSame) {
  AlertmanagerChannel channel(us, http, "http://am-1:9093", {});
  ASSERT_TRUE(send(channel));
  ASSERT_EQ(http.calls.size(), 1U);
  EXPECT_EQ(http.calls[0].url, "http://am-1:9093/api/v2/alerts");
  const json::object first = json::parse(http.calls[0].body).as_array().at(0).as_object();
  notice = sample(Phase::kResolved);
  notice.items[0].labels["severity"] = "warning";
  notice.items[0].labels["code"] = "RAFT_QUORUM_MARGIN";
  ASSERT_TRUE(send(channel));
  const json::object last = json::parse(http.calls[1].body).as_array().at(0).as_object();
  EXPECT_EQ(first.at("labels"), last.at("labels"));
  EXPECT_EQ(first.at("labels").at("incident").as_string(), "17");
  EXPECT_EQ(first.at("startsAt"), last.at("startsAt"));
  EXPECT_EQ(std::string(last.at("endsAt").as_string()), format_utc(us.wall_now()));
  EXPECT_EQ(std::string(first.at("endsAt").as_string()), format_utc(us.wall_now() + 24h * 7));
}

TEST_F(Channels, AnAlertIsKnownByItsFirstLabelsAndSaysItsCauseBesides) {
  AlertmanagerChannel channel(us, http, "http://am-1:9093", {});
  NoticeItem& item = notice.items[0];
  item.known_as = {
      {"root", "check:daemon"}, {"node", "n"}, {"severity", "warning"}, {"code", "CHECK_FAILED"}};
  item.incident.root = "cluster:nb";
  ASSERT_TRUE(send(channel));
  const json::object alert = json::parse(http.calls.at(0).body).as_array().at(0).as_object();
  EXPECT_EQ(
      alert.at("labels"),
      json::parse(R"({"node":"n","root":"check:daemon","alertname":"wardmote","incident":"17"})"));
  EXPECT_EQ(alert.at("annotations").at("root").as_string(), "cluster:nb");
}

TEST_F(Channels, AnAlertmanagerThatIsAwayMayTakeItLater) {
  AlertmanagerChannel channel(us, http, "http://am-1:9093", {});
  http.answer = fail(Errc::kRefused, "away");
  EXPECT_FALSE(send(channel));
  http.answer = HttpResponse{.status = 400, .body = "bad"};
  const DeliveryResult result = send(channel);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().for_ever);
}

TEST_F(Channels, AProgramGetsJsonOnItsInputAndItsExitCodeSaysHowItWent) {
  std::string input;
  int status = 0;
  us.install("/page", [&](const runtime::ProcessSpec& spec) {
    input = spec.standard_input;
    EXPECT_EQ(spec.argv, (std::vector<std::string>{"/page", "--team"}));
    return SimRuntime::Performance{1s, runtime::ProcessExit{status, "", "no \x1b[1mline"}};
  });
  ExecChannel channel(us, {{"/page", "--team"}});
  EXPECT_TRUE(send(channel));
  EXPECT_EQ(json::parse(input).at("number").as_int64(), 3);
  status = 1;
  DeliveryResult result = send(channel);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
  EXPECT_EQ(result.error().reason, "/page ended with 1: no \\x1b[1mline");
  status = 78;
  EXPECT_TRUE(send(channel).error().for_ever);
  ExecChannel missing(us, {{"/none"}});
  EXPECT_TRUE(send(missing).error().for_ever);
}

TEST_F(Channels, TheLogHasOneLineWithTheTitle) {
  const testing::Logged logged;
  LogChannel channel;
  EXPECT_TRUE(send(channel));
  ASSERT_EQ(logged.lines().size(), 1U);
  EXPECT_EQ(logged.count("notification receiver=oncall"), 1) << logged.lines()[0];
  EXPECT_TRUE(logged.lines()[0].contains("CRITICAL cluster:nb RAFT_NO_QUORUM"));
}

TEST_F(Channels, SecretsAreInNoReasonAndNoLog) {
  const testing::Logged logged;
  WebhookChannel channel(us, http,
                         {.url = "http://h/hooks/PATHSECRET",
                          .token = {{}, "TOKENSECRET"},
                          .secret = {{}, "SIGNSECRET"}});
  std::string said;
  for (const int status : {400, 500}) {
    http.answer = HttpResponse{.status = status, .body = "no"};
    said += send(channel).error().reason;
  }
  http.answer = fail(Errc::kRefused, "POST http://h");
  said += send(channel).error().reason;
  for (const char* secret : {"PATHSECRET", "TOKENSECRET", "SIGNSECRET"}) {
    EXPECT_FALSE(said.contains(secret)) << said;
    for (const std::string& line : logged.lines()) EXPECT_FALSE(line.contains(secret)) << line;
    for (const HttpCall& call : http.calls) EXPECT_FALSE(call.body.contains(secret));
  }
}

/// Takes its time.
class SlowChannel final : public Channel {
 public:
  SlowChannel(SimRuntime& host, std::vector<std::string>& said) : host_(host), said_(said) {}
  Task<DeliveryResult> send(Notice notice, Deadline deadline) override {
    co_await host_.sleep_until(deadline.at);
    said_.push_back(notice.key());
    co_return DeliveryResult();
  }

 private:
  SimRuntime& host_;
  std::vector<std::string>& said_;
};

TEST_F(Channels, OneThatHangsDelaysNobodyElse) {
  std::vector<std::string> said;
  std::map<std::string, Receiver> receivers;
  receivers["slow"] = {std::make_unique<SlowChannel>(us, said), 60s};
  receivers["quick"] = {std::make_unique<SlowChannel>(us, said), 1s};
  std::vector<std::string> fates;
  Dispatcher dispatcher(us, std::move(receivers),
                        [&](const Notice& one, const DeliveryResult& result) {
                          fates.push_back(one.receiver + (result ? " good" : " bad"));
                        });
  notice.receiver = "slow";
  dispatcher.send(notice);
  dispatcher.send(notice);
  notice.receiver = "quick";
  dispatcher.send(notice);
  notice.receiver = "nobody";
  dispatcher.send(notice);
  EXPECT_EQ(fates, std::vector<std::string>{"nobody bad"});
  world.run_for(2s);
  EXPECT_EQ(fates.back(), "quick good");
  world.run_for(121s);
  EXPECT_EQ(fates.size(), 4U);
  world.run(us, dispatcher.stop());
}

TEST_F(Channels, WhatWaitsForAReceiverThatIsReplacedGoesItsNewWay) {
  std::vector<std::string> before;
  std::vector<std::string> after;
  std::map<std::string, Receiver> receivers;
  receivers["stays"] = {std::make_unique<SlowChannel>(us, before), 60s};
  receivers["goes"] = {std::make_unique<SlowChannel>(us, before), 60s};
  Dispatcher dispatcher(us, std::move(receivers), [](const Notice&, const DeliveryResult&) {});
  for (const char* const name : {"stays", "goes"}) {
    notice.receiver = name;
    for (notice.number = 1; notice.number <= 3; ++notice.number) dispatcher.send(notice);
  }
  world.run_for(1s);
  std::map<std::string, Receiver> others;
  others["stays"] = {std::make_unique<SlowChannel>(us, after), 1s};
  dispatcher.reload(std::move(others));
  EXPECT_FALSE(dispatcher.knows("goes"));
  world.run_for(300s);
  EXPECT_EQ(before.size(), 2U) << "what was being told, and no more";
  EXPECT_EQ(after.size(), 2U);
  world.run(us, dispatcher.stop());
}

}  // namespace
}  // namespace wardmote::act::notify
