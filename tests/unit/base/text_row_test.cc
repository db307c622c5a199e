#include "base/text_row.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace wardmote {
namespace {

RC_GTEST_PROP(TextRow, GivesBackWhatItWasGiven,
              (const std::string& a, const std::string& b, const std::string& c)) {
  TextRow<3> row({a, b, c});
  const TextRow<3> moved = std::move(row);
  RC_ASSERT(moved[0] == a);
  RC_ASSERT(moved[1] == b);
  RC_ASSERT(moved[2] == c);
}

TEST(TextRow, TakesLittleMoreThanItsTexts) {
  const TextRow<3> row({"check_changed", "", "web-17"});
  EXPECT_EQ(row.bytes(), 13U + 6U + 3 * sizeof(std::uint32_t));
}

}  // namespace
}  // namespace wardmote
