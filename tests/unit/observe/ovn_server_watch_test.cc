#include "observe/ovn/server_watch.h"

#include <gtest/gtest.h>

#include <chrono>

#include "support/ovn_captures.h"
#include "unit/observe/ovn_world.h"

namespace wardmote::observe::ovn {
namespace {

using runtime::Task;
using testing::eventually;
using testing::FakeManners;
using testing::FakeServer;
using testing::OvnWorld;
using namespace std::chrono_literals;

constexpr WatchOptions kQuick{.connect_timeout = 500ms,
                              .echo_every = 30ms,
                              .echo_timeout = 60ms,
                              .first_retry = 5ms,
                              .last_retry = 20ms,
                              .unsupported_retry = 20ms};

std::vector<std::string> pushed(std::string_view capture) {
  std::vector<std::string> messages;
  for (const std::string& line : testing::lines_after(capture, "")) {
    const std::size_t brace = line.find('{');
    if (brace != std::string::npos) messages.push_back(line.substr(brace));
  }
  return messages;
}

/// The monitor's first reply and the updates after it come from a capture of a real server.
class ServerWatchTest : public ::testing::Test {
 public:
  static FakeManners manners() {
    const std::string first = pushed(kCapture).at(0);
    const std::size_t at = first.find(R"("result":)") + 9;
    FakeManners manners;
    manners.results["monitor_cond_since"] = first.substr(at, first.rfind(R"(,"error")") - at);
    manners.results["echo"] = "[]";
    return manners;
  }

  Task<bool> until(std::function<bool()> condition) {
    return eventually(&world.runtime(), std::move(condition), 2s);
  }

  void run(Task<void> story) {
    world.tasks().spawn("watch", watch.run());
    world.run(std::move(story));
  }

  static constexpr std::string_view kCapture = "06-push-monitor-member3-during-leader-kill.txt";
  OvnWorld world;
  FakeServer& server = world.serve("nb.sock", manners());
  int nudges = 0;
  ServerWatch watch{world.runtime(), world.endpoint("nb.sock"), "OVN_Northbound",
                    [this] { ++nudges; }, kQuick};
};

TEST_F(ServerWatchTest, TellsOfEveryChangeAndKeepsTheRow) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    const bool watching = co_await self->until([self] { return self->watch.watching(); });
    EXPECT_TRUE(watching);
    EXPECT_FALSE(self->watch.row()->leader);
    EXPECT_EQ(self->nudges, 1) << "the first sight is news";
    const std::vector<std::string> messages = pushed(kCapture);
    for (std::size_t i = 1; i < messages.size(); ++i) co_await self->server.push(messages[i]);
    const bool led = co_await self->until([self] { return self->watch.row()->leader; });
    EXPECT_TRUE(led);
    EXPECT_GE(self->nudges, 2);
  };
  run(story(this));
}

TEST_F(ServerWatchTest, TellsOfTheLossAtOnceAndComesBack) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    co_await self->until([self] { return self->watch.watching(); });
    self->server.hang_up();
    const bool nudged = co_await self->until([self] { return self->nudges >= 2; });
    EXPECT_TRUE(nudged) << "the loss";
    const bool back =
        co_await self->until([self] { return self->nudges >= 3 && self->watch.watching(); });
    EXPECT_TRUE(back) << "and the return";
    EXPECT_EQ(self->server.connections(), 2);
  };
  run(story(this));
}

TEST_F(ServerWatchTest, AnIdleServerThatEchoesIsNotLost) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    const bool echoed =
        co_await self->until([self] { return self->server.requests().size() >= 6; });
    EXPECT_TRUE(echoed);
    EXPECT_EQ(self->server.connections(), 1);
    EXPECT_EQ(self->nudges, 1);
  };
  run(story(this));
}

TEST_F(ServerWatchTest, AHungServerIsLostBecauseItDoesNotEcho) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    co_await self->until([self] { return self->watch.watching(); });
    self->server.manners().results.clear();  // silence from now on
    const bool lost = co_await self->until([self] { return self->watch.lost().has_value(); });
    EXPECT_TRUE(lost);
    EXPECT_EQ(self->watch.lost()->code, Errc::kTimeout);
    EXPECT_FALSE(self->watch.watching());
    EXPECT_TRUE(self->watch.row().has_value()) << "the last known row stays";
  };
  run(story(this));
}

TEST_F(ServerWatchTest, AnswersTheEchoOfTheServer) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    co_await self->until([self] { return self->watch.watching(); });
    co_await self->server.push(R"({"id":"echo","method":"echo","params":[]})");
    // The fake drops a connection on a reply it cannot read, so staying connected shows that it was
    // one.
    const bool lasted =
        co_await self->until([self] { return self->server.requests().size() >= 4; });
    EXPECT_TRUE(lasted);
    EXPECT_EQ(self->server.connections(), 1);
  };
  run(story(this));
}

TEST_F(ServerWatchTest, AnOldServerDoesNotKnowTheMonitor) {
  server.manners().results.erase("monitor_cond_since");
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    const bool lost = co_await self->until([self] { return self->watch.lost().has_value(); });
    EXPECT_TRUE(lost);
    EXPECT_TRUE(codec::is_unknown_method(*self->watch.lost()));
    EXPECT_EQ(self->nudges, 0);
  };
  run(story(this));
}

TEST_F(ServerWatchTest, GarbageEndsTheConnectionWithAReason) {
  constexpr auto story = [](ServerWatchTest* self) -> Task<void> {
    co_await self->until([self] { return self->watch.watching(); });
    co_await self->server.push("garbage");
    const bool lost = co_await self->until([self] { return self->watch.lost().has_value(); });
    EXPECT_TRUE(lost);
    if (lost) EXPECT_EQ(self->watch.lost()->code, Errc::kProtocol);
  };
  run(story(this));
}

}  // namespace
}  // namespace wardmote::observe::ovn
