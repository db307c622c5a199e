#include "config/packed_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace wardmote::config {
namespace {

TEST(PackedText, TakesLittleForWhatIsSaidTenThousandTimes) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += R"({"name":"web-)" + std::to_string(i) + R"(","every":"1s","timeout":"500ms"},)";
  }
  const PackedText packed(text);
  EXPECT_EQ(packed.text(), text);
  EXPECT_LT(packed.bytes(), text.size() / 5);
}

TEST(PackedText, NothingIsNothing) {
  EXPECT_TRUE(PackedText().empty());
  EXPECT_TRUE(PackedText("").empty());
  EXPECT_EQ(PackedText().text(), "");
}

RC_GTEST_PROP(PackedText, GivesBackWhatItWasGiven, (const std::string& text)) {
  RC_ASSERT(PackedText(text).text() == text);
}

}  // namespace
}  // namespace wardmote::config
