// Whether there is room for a copy of each database.
#include "judge/failover/room.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::judge::failover {
namespace {

constexpr std::uint64_t kMany = 100 * kLeastRoom;

std::string missing(std::uint64_t nb_free, std::uint64_t sb_device, std::uint64_t sb_free,
                    std::uint64_t copies) {
  const std::vector<StoredDatabase> both = {
      {.file = "nb.db", .device = 1, .bytes = kMany, .free_bytes = nb_free},
      {.file = "sb.db", .device = sb_device, .bytes = kMany, .free_bytes = sb_free}};
  return shortage(both, copies);
}

TEST(Room, EachDiskHasToHoldTheCopiesOfItsDatabase) {
  const std::uint64_t one = kMany + kLeastRoom;
  EXPECT_EQ(missing(one, 2, one, 1), "");
  EXPECT_NE(missing(one - 1, 2, one, 1), "");
  EXPECT_NE(missing(one, 2, one - 1, 1), "");
  EXPECT_NE(missing(one, 2, one, 2), "") << "one to keep, and one that replaces it";
  EXPECT_EQ(missing(one + kMany, 2, one + kMany, 2), "");
}

TEST(Room, DatabasesOfOneDiskShareIt) {
  const std::uint64_t one = kMany + kLeastRoom;
  EXPECT_NE(missing(one, 1, one, 1), "");
  EXPECT_EQ(missing(2 * one, 1, 2 * one, 1), "");
  EXPECT_TRUE(missing(2 * one - 1, 1, 2 * one - 1, 1).contains("beside nb.db"));
}

}  // namespace
}  // namespace wardmote::judge::failover
