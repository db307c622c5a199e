#include "act/reconcile/kube_watch.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "runtime/task.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

/// A watch that hears what the test says, when it says it.
class KubeWatchTest : public KubeTargetTest {
 protected:
  KubeWatchTest() {
    want("a");
    want("b");
    kube.lines = [this](const HttpCall& call) { return hear(this, call); };
  }
  static runtime::Task<Result<HttpResponse>> hear(KubeWatchTest* test, HttpCall call) {
    if (!call.url.contains("/configmaps?")) {
      co_await test->us.sleep_until(test->us.now() + 1h);
      co_return fail(Errc::kTimeout, "nothing");
    }
    ++test->asked;
    test->last = call.url;
    while (!test->heard) co_await test->us.sleep_until(test->us.now() + 10ms);
    const Result<HttpResponse> heard = *std::exchange(test->heard, std::nullopt);
    co_return heard;
  }
  void watch() {
    pass();
    target().watch([this] { ++drifts; });
    world.run_for(100ms);
  }
  void stop() { run_task(world, us, end(&target())); }
  static runtime::Task<int> end(KubeTarget* target) {
    co_await target->stop_watching();
    co_return 0;
  }
  void say(std::string_view type, const json::object& object) {
    heard = HttpResponse{
        .status = 200,
        .body = json::serialize(json::object{{"type", type}, {"object", object}}) + "\n{\"type\":"};
    world.run_for(1s);
  }
  json::object live(const std::string& name) const { return kube.objects.at(path_of(name)); }

  int drifts = 0;
  int asked = 0;
  std::string last;
  std::optional<Result<HttpResponse>> heard;
};

TEST_F(KubeWatchTest, WhatIsAsItShouldBeIsNoDriftAndTheWatchGoesOn) {
  watch();
  EXPECT_TRUE(last.contains("watch=1") && last.contains("resourceVersion=")) << last;
  json::object object = live("a");
  object["status"] = "somebody's";
  object.at("metadata").as_object()["resourceVersion"] = "777";
  say("MODIFIED", object);
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(last.contains("resourceVersion=777&")) << last;
  say("BOOKMARK", {{"metadata", {{"resourceVersion", "800"}}}});
  EXPECT_TRUE(last.contains("resourceVersion=800&")) << last;
  json::object other = live("a");
  other.at("metadata").as_object()["name"] = "nobody-wants-it";
  say("ADDED", other);
  heard = HttpResponse{.status = 200};  // the server ends it
  world.run_for(1s);
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(drifts, 0);
  stop();
}

/// `cpu: 1000m` becomes `cpu: "1"`.
TEST_F(KubeWatchTest, WhatTheServerSaysInOtherWordsIsNoDrift) {
  kube.after = [this](const HttpCall& call) -> FakeKube::Answer {
    if (call.method != "PATCH" || !is(call, "PATCH", "a")) return std::nullopt;
    json::object& object = kube.objects.at(path_of("a"));
    object.at("data").as_object()["a"] = "in other words";
    return HttpResponse{.status = 200, .body = json::serialize(object)};
  };
  watch();
  say("ADDED", kube.objects.at(path_of("a")));
  world.run_for(1s);
  EXPECT_EQ(drifts, 0) << "it is as the pass has left it";
  json::object later = kube.objects.at(path_of("a"));
  kube.touch(later);
  say("MODIFIED", later);
  world.run_for(1s);
  EXPECT_EQ(drifts, 1) << "somebody has changed it since";
  stop();
}

TEST_F(KubeWatchTest, AChangeAndADeletionAreToldOnce) {
  watch();
  json::object object = live("a");
  object.at("data").as_object()["a"] = "drift";
  kube.touch(object);
  say("MODIFIED", object);
  EXPECT_EQ(drifts, 1);
  say("MODIFIED", object);
  EXPECT_EQ(drifts, 1) << "the next pass begins another watch";
  stop();
  heard.reset();
  watch();
  say("DELETED", live("b"));
  EXPECT_EQ(drifts, 2);
  stop();
}

TEST_F(KubeWatchTest, AVersionThatIsTooOldEndsIt) {
  watch();
  say("ERROR", {{"kind", "Status"}, {"code", 410}});
  world.run_for(1min);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(drifts, 0) << "nobody knows; the next full pass finds out";
  stop();
}

TEST_F(KubeWatchTest, AServerThatIsAwayIsAskedAgainWithPatience) {
  watch();
  heard = fail(Errc::kRefused, "away");
  world.run_for(1s);
  EXPECT_EQ(asked, 1);
  world.run_for(5s);
  EXPECT_EQ(asked, 2);
  say("DELETED", live("b"));
  EXPECT_EQ(drifts, 1);
  stop();
}

}  // namespace
}  // namespace wardmote::act::reconcile
