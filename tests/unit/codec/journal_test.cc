#include "codec/journal.h"

#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

// The forms are those of systemd.io/JOURNAL_NATIVE_PROTOCOL.
TEST(JournalEntry, AFieldOfOneLineIsNameAndValue) {
  EXPECT_EQ(format_journal({{"MESSAGE", "all is well"}, {"PRIORITY", "5"}}),
            "MESSAGE=all is well\nPRIORITY=5\n");
}

TEST(JournalEntry, ALongerOneGoesWithItsLength) {
  const std::string value = "one\nPRIORITY=0\n";
  EXPECT_EQ(format_journal({{"MESSAGE", value}}),
            std::string("MESSAGE\n\x0f\0\0\0\0\0\0\0", 16) + value + "\n");
  EXPECT_EQ(format_journal({{"X", std::string(300, '\n')}}).substr(0, 4), "X\n\x2c\x01");
}

TEST(JournalEntry, NamesThatTheJournalWouldDropAreLeftOut) {
  EXPECT_EQ(format_journal({{"", "a"},
                            {"_PID", "1"},
                            {"lower", "a"},
                            {"9X", "a"},
                            {"A=B", "a"},
                            {std::string(65, 'A'), "a"},
                            {"GOOD_1", "a"}}),
            "GOOD_1=a\n");
}

}  // namespace
}  // namespace wardmote::codec
