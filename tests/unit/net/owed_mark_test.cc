#include "net/owed_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

class OwedMarkTest : public NetTest {
 protected:
  [[nodiscard]] bool found() const {
    const auto mark = OwedMark::open(data_);
    EXPECT_TRUE(mark) << mark.error().describe();
    return mark && mark->was_set();
  }

  const std::string data_ = path(".");
};

TEST_F(OwedMarkTest, OutlivesWhoSetIt) {
  EXPECT_FALSE(found());
  auto mark = OwedMark::open(data_);
  ASSERT_TRUE(mark);
  EXPECT_TRUE(mark->set(true));
  EXPECT_TRUE(mark->set(true)) << "it is set";
  EXPECT_TRUE(found());
  EXPECT_TRUE(found()) << "to look at it changes nothing";
}

TEST_F(OwedMarkTest, CanBeTakenBack) {
  auto mark = OwedMark::open(data_);
  ASSERT_TRUE(mark);
  EXPECT_TRUE(mark->set(false)) << "it is not set";
  EXPECT_TRUE(mark->set(true));
  EXPECT_TRUE(mark->set(false));
  EXPECT_FALSE(found());
}

TEST_F(OwedMarkTest, WhoFindsItMayTakeItBack) {
  ASSERT_TRUE(OwedMark::open(data_)->set(true));
  auto later = OwedMark::open(data_);
  ASSERT_TRUE(later && later->was_set());
  EXPECT_TRUE(later->set(false));
  EXPECT_FALSE(found());
}

TEST_F(OwedMarkTest, TheLastWishOfManyIsFulfilled) {
  {
    MarkWriter writer(*OwedMark::open(data_));
    for (int i = 0; i < 101; ++i) writer.set(i % 2 == 0);
  }
  EXPECT_TRUE(OwedMark::open(data_)->was_set());
}

TEST_F(OwedMarkTest, SaysWhatIsMissing) {
  EXPECT_EQ(OwedMark::open(path("none")).error().code, Errc::kMissing);
  auto mark = OwedMark::open(data_);
  ASSERT_TRUE(mark);
  std::filesystem::remove(path("wardmote.kept"));
  EXPECT_EQ(mark->set(true).error().code, Errc::kMissing);
}

}  // namespace
}  // namespace wardmote::net
