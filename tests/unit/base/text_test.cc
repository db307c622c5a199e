#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace wardmote {
namespace {

TEST(EscapeControl, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(escape_control("tcp:10.0.0.1:6643 (leader) – größer"),
            "tcp:10.0.0.1:6643 (leader) – größer");
}

TEST(EscapeControl, ShowsTerminalSequencesInsteadOfSendingThem) {
  EXPECT_EQ(escape_control("\x1b[2Jgone\r\n\t\x7f"), "\\x1b[2Jgone\\x0d\\n\\t\\x7f");
}

TEST(EscapeControl, ShowsCharactersThatReorderText) {
  EXPECT_EQ(escape_control("a\u202eb\u200bc"), "a\\u{202e}b\\u{200b}c");
}

TEST(EscapeControl, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(escape_control("\xff\xc0\xaf"), "\\xff\\xc0\\xaf") << "0xc0 0xaf is an overlong '/'";
  EXPECT_EQ(escape_control("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(escape_control("\xe2\x82"), "\\xe2\\x82") << "cut in the middle";
}

TEST(EscapeControl, CutsLongText) {
  EXPECT_EQ(escape_control("abcdef", 3), "abc…");
}

RC_GTEST_PROP(EscapeControl, NeverLetsAControlCharacterThrough, (const std::string& text)) {
  const std::string safe = escape_control(text, 4096);
  RC_ASSERT(std::ranges::none_of(safe, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}

RC_GTEST_PROP(EscapeControl, IsBoundedByItsCap, (const std::string& text)) {
  RC_ASSERT(escape_control(text, 16).size() <= 16 + 10 + 3);
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<int>("42 "), std::nullopt);
  EXPECT_EQ(parse_number<int>(""), std::nullopt);
  EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_number<unsigned>("ff", 16), 255U);
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(TakeUntil, TakesTheRestWithoutSeparator) {
  std::string_view rest = "one two";
  EXPECT_EQ(take_until(rest, ' '), "one");
  EXPECT_EQ(take_until(rest, ' '), "two");
  EXPECT_EQ(rest, "");
}

TEST(Trim, RemovesWhiteSpaceAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

}  // namespace
}  // namespace wardmote
