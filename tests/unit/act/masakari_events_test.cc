#include "act/notify/masakari_events.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/result.h"
#include "unit/act/channel_fixture.h"
#include "unit/act/fake_cloud.h"

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char* kUuid = "00000000-0000-4000-8000-000000000001";

class MasakariEventsTest : public ChannelTest {
 protected:
  MasakariEventsTest() {
    source.emplace();
    source->url = "http://masakari/v1";
    source->microversion = "1.0";
    events.start();
  }
  ~MasakariEventsTest() override { world.run(us, events.stop()); }
  void answer(int status) {
    cloud.answers.emplace_back(HttpResponse{.status = status, .body = "so it is"});
  }

  FakeCloud cloud;
  std::optional<MasakariOptions> source;
  MasakariEvents events{us, cloud, [this] { return source; },
                        [](const std::string&) -> Result<std::string> { return "SECRET"; },
                        "compute-1"};
};

TEST_F(MasakariEventsTest, EachIsToldInTheWordsOfItsInstanceMonitor) {
  events.tell(kUuid, "LIFECYCLE", "SUSPENDED_WATCHDOG");
  events.tell(kUuid, "REBOOT", "UNKNOWN");
  world.run_for(1s);
  ASSERT_EQ(cloud.calls.size(), 2U);
  EXPECT_EQ(cloud.calls[0].url, "http://masakari/v1/notifications");
  const json::value told = json::parse(cloud.calls[0].body).at("notification");
  EXPECT_EQ(told.at("type"), "VM");
  EXPECT_EQ(told.at("hostname"), "compute-1");
  EXPECT_EQ(told.at("generated_time").as_string().size(), 26U) << "naive, microseconds";
  EXPECT_EQ(told.at("payload"),
            json::parse(R"({"event":"LIFECYCLE","instance_uuid":")" + std::string(kUuid) +
                        R"(","vir_domain_event":"SUSPENDED_WATCHDOG"})"));
  EXPECT_EQ(json::parse(cloud.calls[1].body).at("notification").at("payload").at("event"),
            "REBOOT");
}

TEST_F(MasakariEventsTest, AnOutageDelaysAndARefusalDoesNot) {
  answer(503);
  answer(409);
  events.tell(kUuid, "REBOOT", "UNKNOWN");
  world.run_for(15s);
  EXPECT_EQ(cloud.calls.size(), 2U) << "after ten seconds; 409: it knows";
  EXPECT_EQ(cloud.calls.at(0).body, cloud.calls.at(1).body) << "as of when it happened";
  answer(400);
  events.tell(kUuid, "REBOOT", "UNKNOWN");
  world.run_for(1min);
  EXPECT_EQ(cloud.calls.size(), 3U) << "400: never";
  for (int i = 0; i < 20; ++i) answer(503);
  events.tell(kUuid, "REBOOT", "UNKNOWN");
  world.run_for(10min);
  EXPECT_EQ(cloud.calls.size(), 3U + MasakariEvents::kAttempts);
}

TEST_F(MasakariEventsTest, WithoutAReceiverNobodyIsTold) {
  source.reset();
  events.tell(kUuid, "REBOOT", "UNKNOWN");
  world.run_for(1min);
  EXPECT_TRUE(cloud.calls.empty());
}

}  // namespace
}  // namespace wardmote::act::notify
