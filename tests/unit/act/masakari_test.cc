#include "act/notify/masakari.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "unit/act/channel_fixture.h"
#include "unit/act/fake_cloud.h"

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char* kUuid = "00000000-0000-4000-8000-000000000001";

class Masakari : public ChannelTest {
 protected:
  Masakari() {
    options.host = "compute-1";
    options.name_label = "subject";
    options.microversion = "1.0";
    options.keystone.url = "http://ks/v3";
    options.keystone.login = {"", "ann", "Default", "ops", "Default", "SECRET"};
    options.keystone.interface = "public";
    notice.receiver = "masakari";
    add(NoticeKind::kOpened, "nova-compute");
  }
  void add(NoticeKind kind, const std::string& subject) {
    NoticeItem item;
    item.kind = kind;
    item.labels = {{"subject", subject}};
    item.incident.phase = kind == NoticeKind::kResolved ? Phase::kResolved : Phase::kOpen;
    item.incident.changed = us.now() - 1min;
    notice.items.push_back(std::move(item));
  }
  MasakariChannel& channel() {
    if (!channel_) channel_.emplace(us, cloud, options);
    return *channel_;
  }
  DeliveryResult send() { return run_task(world, us, channel().send(notice, us.deadline_in(30s))); }
  json::object told(std::size_t call) const {
    return json::parse(cloud.calls.at(call).body).at("notification").as_object();
  }

  FakeCloud cloud;
  MasakariOptions options;

 private:
  std::optional<MasakariChannel> channel_;
};

TEST_F(Masakari, WithoutAHostItIsTheNodeThatTheReceiverKnows) {
  options.host.clear();
  notice.items[0].labels["node"] = "renamed";
  notice.items[0].known_as = {{"subject", "nova-compute"}, {"node", "compute-7"}};
  ASSERT_TRUE(send());
  EXPECT_EQ(told(1).at("hostname"), "compute-7");
}

// Masakari would look for a process of the storm's name.
TEST_F(Masakari, AStormIsNoProcess) {
  notice.items[0].incident.storm = true;
  EXPECT_TRUE(send());
  EXPECT_TRUE(cloud.calls.empty());
}

TEST_F(Masakari, LogsInFindsTheApiAndTellsOfAProcess) {
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 2U);
  EXPECT_EQ(cloud.calls[0].url, "http://ks/v3/auth/tokens");
  const HttpCall& post = cloud.calls[1];
  EXPECT_EQ(post.url, "http://catalog/v1/notifications");
  EXPECT_EQ(header(post, "X-Auth-Token"), "TOKEN1");
  EXPECT_EQ(header(post, "OpenStack-API-Version"), "instance-ha 1.0");
  const json::object body = told(1);
  EXPECT_EQ(body.at("type"), "PROCESS");
  EXPECT_EQ(body.at("hostname"), "compute-1");
  EXPECT_EQ(body.at("payload"),
            json::parse(R"({"event":"STOPPED","process_name":"nova-compute"})"));
  const std::string at(body.at("generated_time").as_string());
  EXPECT_EQ(at, format_utc(us.wall_now() - 1min).substr(0, 23) + "000") << "naive, microseconds";
}

TEST_F(Masakari, ARepetitionIsTheSameSoThatItIsKnown) {
  cloud.answers.emplace_back(fail(Errc::kTimeout, "no answer"));
  EXPECT_FALSE(send());
  world.run_for(10min);
  cloud.answers.emplace_back(HttpResponse{.status = 409, .body = "duplicate"});
  EXPECT_TRUE(send()) << "409: it knows";
  EXPECT_EQ(cloud.calls[1].body, cloud.calls[2].body);
  EXPECT_EQ(cloud.logins, 1);
}

TEST_F(Masakari, AnEndIsAStartAndWhatStandsIsNotToldAgain) {
  notice.items.clear();
  add(NoticeKind::kResolved, "nova-compute");
  for (const NoticeKind quiet :
       {NoticeKind::kOngoing, NoticeKind::kChanged, NoticeKind::kBrief, NoticeKind::kUnwatched}) {
    add(quiet, "libvirtd");
  }
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 2U);
  EXPECT_EQ(told(1).at("payload").at("event"), "STARTED");
}

/// The incident has another cause by then, and so another subject.
TEST_F(Masakari, WhatStartedIsWhatWasToldToHaveStopped) {
  notice.items.clear();
  add(NoticeKind::kResolved, "libvirtd");
  notice.items[0].known_as = {{"subject", "nova-compute"}};
  ASSERT_TRUE(send());
  EXPECT_EQ(told(1).at("payload"),
            json::parse(R"({"event":"STARTED","process_name":"nova-compute"})"));
}

TEST_F(Masakari, OfAnInstanceItIsToldTheBeginningOnly) {
  options.type = MasakariOptions::Type::kInstance;
  notice.items.clear();
  add(NoticeKind::kOpened, kUuid);
  add(NoticeKind::kResolved, kUuid);
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 2U);
  EXPECT_EQ(told(1).at("type"), "VM");
  EXPECT_EQ(told(1).at("payload"),
            json::parse(R"({"event":"QEMU_GUEST_AGENT_ERROR","instance_uuid":")" +
                        std::string(kUuid) + R"(","vir_domain_event":"STOPPED_FAILED"})"));
}

TEST_F(Masakari, AStormIsEachOfItsGuestsThatFailsAndIsNotKnownYet) {
  options.type = MasakariOptions::Type::kInstance;
  notice.items.clear();
  add(NoticeKind::kOpened, "guest");
  notice.items[0].incident.storm = true;
  const std::string other = "00000000-0000-4000-8000-000000000002";
  for (const std::string& uuid : {std::string(kUuid), other}) {
    notice.items[0].parts.push_back(
        {judge::Code::kGuestDied, {{"subject", "web"}, {"uuid", uuid}}, us.now() - 10min});
  }
  notice.items[0].parts.push_back({judge::Code::kQemuStuck, {{"uuid", other}}, us.now() - 10min});
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 3U) << "the login, and each guest that may be restarted";
  EXPECT_EQ(told(1).at("payload").at("instance_uuid"), kUuid);
  EXPECT_EQ(told(2).at("payload").at("instance_uuid").as_string(), other);
  EXPECT_EQ(told(2).at("generated_time").as_string(),
            format_utc(us.wall_now() - 10min).substr(0, 23) + "000");
  // It has grown.
  notice.items[0].kind = NoticeKind::kChanged;
  world.run_for(10min);
  notice.items[0].parts[1].since = us.now() - 1min;
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 4U) << "the second was good, and failed again";
  EXPECT_EQ(told(3).at("payload").at("instance_uuid").as_string(), other);
}

TEST_F(Masakari, ASecondFailureThatItDropsIsToldAgainAsOneOfThen) {
  options.type = MasakariOptions::Type::kInstance;
  notice.items.clear();
  add(NoticeKind::kOpened, kUuid);
  notice.items[0].incident.id = 7;
  notice.number = 1;
  cloud.answers.emplace_back(HttpResponse{.status = 409, .body = "duplicate"});
  const std::string earlier = format_utc(us.wall_now() - 2min).substr(0, 19);
  cloud.answers.emplace_back(HttpResponse{
      .status = 200,
      .body = R"({"notifications":[{"generated_time":")" + earlier +
              R"(.000000","payload":{"instance_uuid":")" + std::string(kUuid) + R"("}}]})"});
  const DeliveryResult result = send();
  ASSERT_TRUE(result) << "nobody need do anything";
  EXPECT_EQ(result->dropped.incidents, std::set<std::int64_t>{7});
  EXPECT_EQ(result->dropped.again_in, 185s) << "Masakari's window of 180 s";
  EXPECT_TRUE(result->complaint.contains("told again")) << result->complaint;
  EXPECT_EQ(cloud.calls.at(2).method, "GET");
  world.run_for(185s);
  notice.number = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(us.wall_now().time_since_epoch())
          .count());
  EXPECT_EQ(send()->dropped.incidents.size(), 0U);
  EXPECT_EQ(told(3).at("generated_time").as_string(),
            format_utc(us.wall_now()).substr(0, 23) + "000")
      << "by its old time it would be a duplicate for ever";
}

TEST_F(Masakari, WhatItKnowsBecauseAnAnswerWasLostIsNotToldAgain) {
  options.type = MasakariOptions::Type::kInstance;
  notice.items.clear();
  add(NoticeKind::kOpened, kUuid);
  cloud.answers.emplace_back(HttpResponse{.status = 409, .body = "duplicate"});
  const std::string at = format_utc(us.wall_now() - 1min).substr(0, 19);
  cloud.answers.emplace_back(HttpResponse{.status = 200,
                                          .body = R"({"notifications":[{"generated_time":")" + at +
                                                  R"(","payload":{"instance_uuid":")" +
                                                  std::string(kUuid) + R"("}}]})"});
  const DeliveryResult result = send();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->dropped.incidents.size(), 0U);
  EXPECT_EQ(result->complaint, "");
}

// The payloads of both of Masakari's monitors of instances.
TEST_F(Masakari, AGuestIsKnownByItsUuidAndByHowItFailed) {
  using judge::Code;
  options.type = MasakariOptions::Type::kInstance;
  for (const auto& [code, event] : {std::pair(Code::kGuestSpinning, "QEMU_GUEST_AGENT_ERROR"),
                                    {Code::kGuestNoAnswer, "QEMU_GUEST_AGENT_ERROR"},
                                    {Code::kGuestDied, "LIFECYCLE"}}) {
    notice.items.clear();
    cloud.calls.clear();
    add(NoticeKind::kOpened, "instance-00000001");
    notice.items[0].labels["uuid"] = kUuid;
    notice.items[0].incident.code = code;
    ASSERT_TRUE(send());
    const json::object payload = told(cloud.calls.size() - 1).at("payload").as_object();
    EXPECT_EQ(payload.size(), 3U) << "Masakari refuses any other key";
    EXPECT_EQ(payload.at("event"), event);
    EXPECT_EQ(payload.at("instance_uuid"), kUuid);
    EXPECT_EQ(payload.at("vir_domain_event"), "STOPPED_FAILED");
  }
}

TEST_F(Masakari, AGuestThatWorksIsNotRestarted) {
  using judge::Code;
  options.type = MasakariOptions::Type::kInstance;
  notice.items.clear();
  for (const Code code : {Code::kAgentDown, Code::kAgentStuck, Code::kAgentNeverAnswered,
                          Code::kQemuStuck, Code::kHostStorage}) {
    add(NoticeKind::kOpened, kUuid);
    notice.items.back().incident.code = code;
  }
  // A watchdog has reset it, and it boots.
  add(NoticeKind::kOpened, kUuid);
  notice.items.back().incident.code = Code::kGuestNoAnswer;
  notice.items.back().labels["severity"] = "warning";
  EXPECT_TRUE(send());
  EXPECT_TRUE(cloud.calls.empty());
}

TEST_F(Masakari, WhatIsNoInstanceIsUndeliverableAndKeepsNoOtherFromIt) {
  options.type = MasakariOptions::Type::kInstance;
  add(NoticeKind::kOpened, kUuid);
  const DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().for_ever);
  EXPECT_EQ(result.error().reason,
            "the label 'subject' is not a UUID of an instance: 'nova-compute'");
  EXPECT_EQ(cloud.calls.size(), 2U) << "the second was told";
}

TEST_F(Masakari, AHostThatNobodyFencedIsNotEvacuated) {
  options.type = MasakariOptions::Type::kHost;
  ASSERT_TRUE(send());
  EXPECT_EQ(told(1).at("type"), "COMPUTE_HOST");
  EXPECT_EQ(told(1).at("payload"), json::parse(R"({"event":"STOPPED","cluster_status":"OFFLINE",
                                                   "host_status":"UNKNOWN"})"));
}

TEST_F(Masakari, ATokenThatIsRefusedIsRenewedOnce) {
  ASSERT_TRUE(send());
  cloud.answers.emplace_back(HttpResponse{.status = 401, .body = "expired"});
  EXPECT_TRUE(send());
  EXPECT_EQ(cloud.logins, 2);
  EXPECT_EQ(header(cloud.calls.back(), "X-Auth-Token"), "TOKEN2");
  for (int i = 0; i < 2; ++i) cloud.answers.emplace_back(HttpResponse{.status = 401});
  const DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
  EXPECT_EQ(cloud.logins, 3) << "no hot loop";
}

TEST_F(Masakari, ATokenThatIsAboutToEndIsRenewedBefore) {
  const std::string soon = format_utc(us.wall_now() + 5min).substr(0, 19) + "Z";
  cloud.token.replace(cloud.token.find("2100-01-01T00:00:00.000000Z"), 27, soon);
  ASSERT_TRUE(send());
  world.run_for(3min);
  ASSERT_TRUE(send());
  EXPECT_EQ(cloud.logins, 1);
  world.run_for(70s);
  ASSERT_TRUE(send());
  EXPECT_EQ(cloud.logins, 2);
}

TEST_F(Masakari, WhatAnAnswerMeans) {
  const std::pair<int, bool> for_ever[] = {{400, true},  {404, true},  {406, true},
                                           {403, false}, {500, false}, {503, false}};
  for (const auto& [status, wanted] : for_ever) {
    cloud.answers.emplace_back(HttpResponse{.status = status, .body = "so it is"});
    const DeliveryResult result = send();
    ASSERT_FALSE(result) << status;
    EXPECT_EQ(result.error().for_ever, wanted) << status;
  }
}

TEST_F(Masakari, AWrongPasswordIsTriedAgainAndSaysWho) {
  cloud.login_status = 401;
  cloud.token = R"({"error":{"code":401}})";
  const DeliveryResult result = send();
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever);
  EXPECT_TRUE(result.error().reason.starts_with("keystone: HTTP 401")) << result.error().reason;
  EXPECT_FALSE(result.error().reason.contains("SECRET"));
  EXPECT_EQ(cloud.calls.size(), 1U);
}

TEST_F(Masakari, ACatalogueWithoutItSaysSo) {
  options.keystone.interface = "internal";
  EXPECT_EQ(send().error().reason,
            "keystone: its catalogue has no internal endpoint of instance-ha");
}

TEST_F(Masakari, WithoutKeystoneTheAddressIsEnough) {
  options.keystone.url.clear();
  options.url = "http://api/v1";
  ASSERT_TRUE(send());
  ASSERT_EQ(cloud.calls.size(), 1U);
  EXPECT_EQ(cloud.calls[0].url, "http://api/v1/notifications");
  EXPECT_EQ(header(cloud.calls[0], "X-Auth-Token"), "");
}

}  // namespace
}  // namespace wardmote::act::notify
