#include "daemon/receivers.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "act/notify/services/service.h"
#include "config/config.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::daemon {
namespace {

using namespace std::chrono_literals;
using config::Notify;
using config::Receiver;

class SilentHttp final : public runtime::HttpClient {
 public:
  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall, runtime::Deadline) override {
    co_return fail(Errc::kRefused, "nobody listens");
  }
};

TEST(Receivers, ASecretThatCannotBeReadIsNamedByItsFile) {
  sim::World world(1);
  Notify notify;
  Receiver receiver;
  receiver.name = "hook";
  receiver.options = act::notify::WebhookOptions{.url = "http://h/PATHSECRET",
                                                 .secret = {.file = "/no/such/file"}};
  notify.receivers.push_back(receiver);
  EXPECT_FALSE(make_receivers(notify, world.host("us"), {})) << "without an HTTP client";
  SilentHttp http;
  const auto made = make_receivers(notify, world.host("us"), {.http = &http});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kMissing);
  EXPECT_EQ(made.error().context, "receiver hook: /no/such/file");
}

TEST(Receivers, AnAddressMayStandInAFileAndIsNeverRepeated) {
  sim::World world(1);
  SilentHttp http;
  const auto made_from = [&](const std::string& address) {
    const std::filesystem::path file =
        std::filesystem::path(::testing::TempDir()) / "receivers_test_address";
    std::ofstream(file) << address << "\n";
    Notify notify;
    notify.receivers.push_back(
        {.name = "chat",
         .timeout = 5s,
         .options = act::notify::ServiceOptions{.service = &act::notify::services().front(),
                                                .url_file = {.file = file.string()}}});
    return make_receivers(notify, world.host("us"), {.http = &http});
  };
  const auto good = made_from("https://hooks.example.org/PATHSECRET");
  ASSERT_TRUE(good) << good.error().describe();
  EXPECT_EQ(good->kinds.at("chat"), "slack");
  const auto bad = made_from("hooks.example.org/PATHSECRET");
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().context.contains("it is not an http:// or https:// address"));
  EXPECT_FALSE(bad.error().context.contains("PATHSECRET"));
}

TEST(Receivers, EachMemberOfAnAlertmanagerClusterIsToldByItself) {
  sim::World world(1);
  Notify notify;
  Receiver receiver;
  receiver.name = "am";
  receiver.options = act::notify::AlertmanagerOptions{
      .urls = {"http://am-1", "http://[fd00::1]:9093", "http://am-3/a", "http://am-3/b"}};
  notify.receivers.push_back(receiver);
  judge::notify::Route route;
  route.receiver = "am";
  notify.routes = {route};
  SilentHttp http;
  const auto made = make_receivers(notify, world.host("us"), {.http = &http});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->receivers.size(), 4U);
  EXPECT_EQ(made->policy.configured_as,
            (std::map<std::string, std::string>{{"am@am-1:80", "am"},
                                                {"am@[fd00::1]:9093", "am"},
                                                {"am@am-3:80#b49cd92d", "am"},
                                                {"am@am-3:80#b49cd414", "am"}}));
  ASSERT_EQ(made->policy.routes.size(), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(made->policy.routes[i].go_on) << i;
  EXPECT_FALSE(made->policy.routes[3].go_on) << "what comes after it is as it was";
  for (const auto& [name, configured] : made->policy.configured_as) {
    EXPECT_TRUE(made->receivers.at(name).forgets);
    EXPECT_EQ(made->policy.retries.at(name).give_up, 24h * 7) << "so long would the alert fire";
  }
}

}  // namespace
}  // namespace wardmote::daemon
