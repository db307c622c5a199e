// The copies that the resource agent keeps of a database.
#include "cli/ocf/host.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/time.h"

namespace wardmote::cli::ocf {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class OcfCopies : public ::testing::Test {
 protected:
  OcfCopies() {
    std::string pattern = (fs::temp_directory_path() / "wardmote-copies-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    database_ = folder_ / "ovnnb_db.db";
    write("rows");
  }
  ~OcfCopies() override { fs::remove_all(folder_); }

  void write(const std::string& text) const { std::ofstream(database_) << text; }
  [[nodiscard]] std::set<std::string> copies() const {
    std::set<std::string> found;
    for (const auto& one : fs::directory_iterator(folder_)) {
      const std::string name = one.path().filename().string();
      if (name != "ovnnb_db.db") found.insert(name);
    }
    return found;
  }

  fs::path folder_;
  fs::path database_;
};

TEST_F(OcfCopies, TheLastThreeStay) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(copy_aside(database_.string(), WallTime(i * 1s)));
  EXPECT_EQ(copies(), (std::set<std::string>{"ovnnb_db.db.before-sync.1970-01-01T000002.000Z",
                                             "ovnnb_db.db.before-sync.1970-01-01T000003.000Z",
                                             "ovnnb_db.db.before-sync.1970-01-01T000004.000Z"}));
}

// An attack set the clock back: the copy that had just been made was the oldest of four.
TEST_F(OcfCopies, TheOneJustMadeStaysWhateverTheClockSays) {
  for (int i = 1; i < 4; ++i) ASSERT_TRUE(copy_aside(database_.string(), WallTime(i * 24h)));
  write("only here");
  const auto copy = copy_aside(database_.string(), WallTime(1s));
  ASSERT_TRUE(copy);
  std::string text;
  std::getline(std::ifstream(*copy) >> std::ws, text);
  EXPECT_EQ(text, "only here");
  EXPECT_EQ(copies().size(), 3U);
  EXPECT_TRUE(copies().contains("ovnnb_db.db.before-sync.1970-01-04T000000.000Z"));
}

TEST_F(OcfCopies, AnEarlierCopyOfTheSameMomentIsNotOverwrittenNorRemoved) {
  ASSERT_TRUE(copy_aside(database_.string(), WallTime(1s)));
  write("later");
  EXPECT_FALSE(copy_aside(database_.string(), WallTime(1s)));
  EXPECT_EQ(copies().size(), 1U);
}

TEST_F(OcfCopies, RoomIsAskedForEachCopy) {
  EXPECT_TRUE(enough_room(database_.string(), 2));
  const auto free = fs::space(folder_).available;
  fs::resize_file(database_, free / 3 * 2);  // sparse
  EXPECT_TRUE(enough_room(database_.string(), 1));
  EXPECT_FALSE(enough_room(database_.string(), 2));
}

}  // namespace
}  // namespace wardmote::cli::ocf
