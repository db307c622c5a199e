#include "base/utf8.h"

#include <string_view>

#include <gtest/gtest.h>

namespace wardmote {
namespace {

TEST(IsUtf8, KnowsOverlongFormsSurrogatesAndCutTexts) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("größer \xf0\x9f\x90\xa7"));
  for (const char* const broken :
       {"\xff", "a\xc0\xaf", "\xed\xa0\x80", "a\xe2\x82", "\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(broken));
}

TEST(FindNonText, NamesTheFirstByteThatATextFileHasNot) {
  EXPECT_EQ(find_non_text("key: wörd\r\n\tmore\n"), std::string_view::npos);
  EXPECT_EQ(find_non_text("ab\x1b[2J\xff"), 2U);
  EXPECT_EQ(find_non_text("ö\xff"), 2U);
  EXPECT_EQ(find_non_text(std::string_view("a\0b", 3)), 1U);
  EXPECT_EQ(find_non_text("a\x7f"), 1U);
  EXPECT_EQ(find_non_text("whole\xe2\x82"), 5U);
}

}  // namespace
}  // namespace wardmote
