#include "act/notify/masakari_maintenance.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "unit/act/channel_fixture.h"
#include "unit/act/fake_cloud.h"

namespace wardmote::act::notify {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSegments = R"({"segments":[{"uuid":"aa","name":"s1"},{"uuid":"bb"}]})";
constexpr const char* kOther =
    R"({"hosts":[{"uuid":"1","name":"compute-9","on_maintenance":true}]})";
constexpr const char* kOn = R"({"hosts":[{"uuid":"2","name":"compute-1","on_maintenance":true}]})";
constexpr const char* kOff =
    R"({"hosts":[{"uuid":"2","name":"compute-1","on_maintenance":false}]})";

class Maintenance : public ChannelTest {
 protected:
  Maintenance() {
    MasakariOptions options;
    options.url = "http://masakari/v1";
    options.microversion = "1.0";
    source = options;
  }
  ~Maintenance() override {
    if (watch_) world.run(us, watch_->stop());
  }
  void answer(const char* body, int status = 200) {
    cloud.answers.emplace_back(HttpResponse{.status = status, .body = body});
  }
  void fail_once() { cloud.answers.emplace_back(fail(Errc::kRefused, "connect: refused")); }
  /// Until everything that was to be answered was asked.
  MasakariMaintenance& watch(Duration time = 1s) {
    if (!watch_) {
      watch_.emplace(
          us, cloud, [this] { return source; },
          [this](const std::string& file) -> Result<std::string> {
            read.push_back(file);
            if (!readable) return fail(Errc::kMissing, "{}: no such file", file);
            return "SECRET";
          },
          "compute-1");
      watch_->start();
    }
    world.run_for(time);
    return *watch_;
  }
  [[nodiscard]] std::vector<std::string> asked() {
    std::vector<std::string> all;
    for (const HttpCall& call : std::exchange(cloud.calls, {}))
      all.push_back(call.method + " " + call.url);
    return all;
  }

  FakeCloud cloud;
  std::optional<MasakariOptions> source;
  std::vector<std::string> read;
  bool readable = true;

 private:
  std::optional<MasakariMaintenance> watch_;
};

using Calls = std::vector<std::string>;

TEST_F(Maintenance, TheHostIsFoundInWhateverSegmentAndAskedForThereFromThenOn) {
  answer(kSegments);
  answer(kOther);
  answer(kOn);
  EXPECT_TRUE(watch().is_on());
  EXPECT_EQ(asked(),
            (Calls{"GET http://masakari/v1/segments", "GET http://masakari/v1/segments/aa/hosts",
                   "GET http://masakari/v1/segments/bb/hosts"}));
  answer(kOff);
  EXPECT_FALSE(watch(30s).is_on());
  EXPECT_EQ(asked(), Calls{"GET http://masakari/v1/segments/bb/hosts"});
  // It was moved to the other one.
  answer(kOther);
  answer(kSegments);
  answer(kOn);
  EXPECT_TRUE(watch(30s).is_on());
  EXPECT_EQ(asked().size(), 3U);
}

TEST_F(Maintenance, WhatWasSaidHoldsForTenMinutesWithoutAnAnswer) {
  answer(kSegments);
  answer(kOn);
  ASSERT_TRUE(watch().is_on());
  for (int i = 0; i < 100; ++i) fail_once();
  EXPECT_TRUE(watch(9min + 50s).is_on());
  EXPECT_FALSE(watch(15s).is_on());
  cloud.answers.clear();
  answer(kSegments);
  answer(kOn);
  EXPECT_TRUE(watch(30s).is_on());
}

TEST_F(Maintenance, NoAnswerAtFirstIsNone) {
  answer("", 503);
  EXPECT_FALSE(watch().is_on());
  answer("{}");
  EXPECT_FALSE(watch(30s).is_on()) << "no list";
  answer(kSegments);
  answer(kOther);
  answer(kOther);
  EXPECT_FALSE(watch(30s).is_on()) << "of another host";
  answer(kSegments);
  answer(R"({"hosts":[{"uuid":"2","name":"compute-1","on_maintenance":"yes"}]})");
  EXPECT_FALSE(watch(30s).is_on()) << "no flag";
}

TEST_F(Maintenance, ASegmentMayHaveMoreHostsThanOnePage) {
  std::string page = R"({"hosts":[)";
  for (int i = 0; i < 999; ++i) page += R"({"uuid":"3","name":"another"},)";
  page += R"({"uuid":"4d","name":"last"}]})";
  answer(R"({"segments":[{"uuid":"aa"}]})");
  answer(page.c_str());
  answer(kOn);
  EXPECT_TRUE(watch().is_on());
  EXPECT_EQ(asked().back(), "GET http://masakari/v1/segments/aa/hosts?marker=4d");
}

TEST_F(Maintenance, WhatIsNoUuidBecomesNoPath) {
  answer(R"({"segments":[{"uuid":"../../v3/auth"},{"uuid":""},{"uuid":7},3,{"uuid":"aa"}]})");
  answer(kOn);
  EXPECT_TRUE(watch().is_on());
  EXPECT_EQ(asked().back(), "GET http://masakari/v1/segments/aa/hosts");
}

TEST_F(Maintenance, ASecretIsReadAgainAfterAFailure) {
  source->keystone.url = "http://ks/v3";
  source->keystone.login = {"", "ann", "Default", "ops", "Default", ""};
  source->keystone.secret_file = "/secret";
  cloud.login_status = 401;
  EXPECT_FALSE(watch().is_on());
  cloud.login_status = 201;
  answer(kSegments);
  answer(kOn);
  EXPECT_TRUE(watch(30s).is_on());
  EXPECT_EQ(read, (Calls{"/secret", "/secret"}));
  answer(kOn);
  EXPECT_TRUE(watch(30s).is_on());
  EXPECT_EQ(read.size(), 2U);
  EXPECT_EQ(header(cloud.calls.back(), "X-Auth-Token"), "TOKEN2");
}

TEST_F(Maintenance, ASecretThatCannotBeReadIsAFailure) {
  source->keystone.secret_file = "/secret";
  readable = false;
  EXPECT_FALSE(watch().is_on());
  EXPECT_TRUE(asked().empty());
}

TEST_F(Maintenance, OfAnotherSourceNothingIsKnownYet) {
  answer(kSegments);
  answer(kOn);
  ASSERT_TRUE(watch().is_on());
  source->host = "compute-2";
  answer("", 503);
  EXPECT_FALSE(watch(30s).is_on());
  source.reset();
  EXPECT_FALSE(watch(30s).is_on());
  static_cast<void>(asked());
  watch(10min);
  EXPECT_TRUE(asked().empty()) << "nobody is asked";
}

}  // namespace
}  // namespace wardmote::act::notify
