// How far a copy is, by its content.
#include "judge/failover/digest_ring.h"

#include <gtest/gtest.h>

namespace wardmote::judge::failover {
namespace {

ContentHash content(std::uint64_t number) {
  return {number, ~number};
}

TEST(DigestRing, AContentIsFoundAtItsCommit) {
  DigestRing ring;
  EXPECT_FALSE(ring.find(content(1)));
  for (std::uint64_t i = 1; i <= 10; ++i) ring.push(content(i));
  EXPECT_EQ(ring.last(), 10U);
  EXPECT_EQ(ring.find(content(10)), 10U);
  EXPECT_EQ(ring.find(content(3)), 3U);
  EXPECT_FALSE(ring.find(content(11)));
}

TEST(DigestRing, AContentThatReturnsIsTheLatestOfItsPlaces) {
  DigestRing ring;
  ring.push(content(1));
  ring.push(content(2));
  ring.push(content(1));
  ring.push(content(1));
  EXPECT_EQ(ring.find(content(1)), 3U);
}

TEST(DigestRing, WhatIsTooOldIsForgotten) {
  DigestRing ring;
  for (std::uint64_t i = 1; i <= DigestRing::kLength + 5; ++i) ring.push(content(i));
  EXPECT_FALSE(ring.find(content(5)));
  EXPECT_EQ(ring.find(content(6)), 6U);
}

}  // namespace
}  // namespace wardmote::judge::failover
