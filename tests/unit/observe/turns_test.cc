// Who is asked next, when more guests hang than are asked at once.
#include "observe/guests/turns.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>

#include "base/time.h"

namespace wardmote::observe::guests {
namespace {

using Lane = Turns::Lane;
using namespace std::chrono_literals;

class GuestTurns : public ::testing::Test {
 protected:
  void wait(const std::string& uuid, Lane lane = Lane::kSlow, bool yields = false) {
    turns.wait({uuid, lane, yields, 20s}, now);
  }
  /// Takes all places that the lane has.
  void fill() {
    for (int i = 0; i < static_cast<int>(Turns::kSlow); ++i) {
      const std::string uuid = "hung-" + std::to_string(i);
      wait(uuid);
      EXPECT_TRUE(turns.take(uuid));
    }
  }
  bool takes(const std::string& uuid) { return turns.take(uuid).has_value(); }

  boost::asio::io_context loop;
  Turns turns{loop.get_executor()};
  TimePoint now{1h};
};

TEST_F(GuestTurns, WhoHasWaitedLongestIsFirst) {
  fill();
  wait("a");
  now += 1s;
  wait("b");
  EXPECT_FALSE(takes("a")) << "there is no place";
  turns.release("hung-3");
  EXPECT_FALSE(takes("b"));
  EXPECT_TRUE(takes("a"));
  EXPECT_FALSE(takes("b")) << "there was one place";
}

TEST_F(GuestTurns, WhoComesAgainHasKeptItsPlace) {
  fill();
  wait("a");
  now += 1s;
  wait("b");
  turns.leave("a", now);
  now += 5s;
  wait("a");
  turns.release("hung-0");
  EXPECT_FALSE(takes("b"));
  EXPECT_TRUE(takes("a"));
  // Whoever is away holds up nobody, and is forgotten after a while.
  wait("c");
  turns.leave("b", now);
  turns.release("hung-1");
  EXPECT_TRUE(takes("c"));
  now += 21s;
  wait("d");
  now += 1s;
  wait("b");
  turns.release("hung-2");
  EXPECT_TRUE(takes("d"));
}

TEST_F(GuestTurns, WhoYieldsHasEachFourthTurn) {
  fill();
  for (const char* const uuid : {"known-1", "known-2"}) wait(uuid, Lane::kSlow, true);
  now += 1s;
  std::string order;
  for (int i = 0; i < 8; ++i) {
    wait("new-" + std::to_string(i));
    now += 1s;
    turns.release("hung-" + std::to_string(i));
    const bool known = takes("known-1") || takes("known-2");
    order += known ? 'k' : 'n';
    bool fresh = false;
    for (int j = 0; j <= i && !fresh; ++j) fresh = takes("new-" + std::to_string(j));
    EXPECT_NE(known, fresh) << i;
  }
  EXPECT_EQ(order, "nnnknnnk");
}

TEST_F(GuestTurns, WhoIsWellHasPlacesThatNobodyWhoHangsCanTake) {
  fill();
  wait("hangs");
  for (int i = 0; i < static_cast<int>(Turns::kFast); ++i) {
    wait("well-" + std::to_string(i), Lane::kFast);
    EXPECT_EQ(turns.take("well-" + std::to_string(i)), Lane::kFast);
  }
  EXPECT_FALSE(takes("hangs"));
  wait("well", Lane::kFast);
  EXPECT_FALSE(takes("well"));
  turns.release("hung-1");
  EXPECT_FALSE(takes("well")) << "somebody waits there";
  turns.release("well-1");
  EXPECT_TRUE(takes("well"));
}

TEST_F(GuestTurns, SomeWorkersOfLibvirtdAreLeftForEverybodyElse) {
  int asked = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string uuid = std::to_string(i);
    wait(uuid, Lane::kFast);
    if (takes(uuid)) ++asked;
  }
  EXPECT_EQ(asked, static_cast<int>(Turns::kMost));
}

TEST_F(GuestTurns, AQuestionOfNoHasteTakesNobodysPlace) {
  EXPECT_EQ(turns.take_idle("well"), Lane::kSlow);
  EXPECT_FALSE(turns.take_idle("well")) << "it is being asked";
  turns.release("well");
  fill();
  EXPECT_EQ(turns.take_idle("well"), Lane::kFast);
  wait("pinged", Lane::kFast);
  EXPECT_FALSE(turns.take_idle("other"));
}

TEST_F(GuestTurns, ACallThatIsOverIsNotOverdue) {
  wait("a");
  EXPECT_TRUE(takes("a"));
  EXPECT_FALSE(turns.is_overdue("a"));
  turns.overdue("a");
  EXPECT_TRUE(turns.is_overdue("a"));
  turns.release("a");
  turns.overdue("a");
  EXPECT_FALSE(turns.is_overdue("a"));
  EXPECT_FALSE(turns.any());
}

}  // namespace
}  // namespace wardmote::observe::guests
