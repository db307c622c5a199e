#include "cli/output.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "cli/watch_screen.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

TEST(JsonLine, MeansTheSameAndIsSafeOnATerminal) {
  const json::value value =
      json::object{{"a\u202e", "\u009b2J \u2066 Zürich 控制 \x7f \U000e0001"}};
  const std::string line = json_line(value);
  EXPECT_EQ(json::parse(line), value);
  EXPECT_TRUE(line.contains("\\u202e")) << line;
  EXPECT_TRUE(line.contains("\\u009b2J")) << line;
  EXPECT_TRUE(line.contains("\\u007f")) << line;
  EXPECT_TRUE(line.contains("Zürich 控制")) << line;
}

TEST(JsonLine, BrokenBytesBecomeTheReplacementCharacter) {
  EXPECT_EQ(json_line(json::value("a\xff")), "\"a\\ufffd\"");
}

TEST(Exit, TheWorstOfSeveral) {
  EXPECT_EQ(worse(Exit::kGood, Exit::kUnknown), Exit::kUnknown);
  EXPECT_EQ(worse(Exit::kUnknown, Exit::kWarning), Exit::kWarning);
  EXPECT_EQ(worse(Exit::kCritical, Exit::kWarning), Exit::kCritical);
  EXPECT_EQ(exit_of_verdict("ok"), Exit::kGood);
  EXPECT_EQ(exit_of_verdict("warning"), Exit::kWarning);
  EXPECT_EQ(exit_of_verdict("fail"), Exit::kCritical);
  EXPECT_EQ(exit_of_verdict("no such word"), Exit::kUnknown);
  EXPECT_EQ(exit_of_severity("info"), Exit::kGood);
  EXPECT_EQ(exit_of_severity(""), Exit::kUnknown);
}

TEST(WatchScreen, RedrawsInPlaceWithoutClearingTheScreen) {
  const std::string bytes = redraw("one\ntwo\n", "footer", 10);
  EXPECT_EQ(bytes, "\x1b[Hone\x1b[0m\x1b[K\r\ntwo\x1b[0m\x1b[K\r\n\x1b[Jfooter");
  EXPECT_FALSE(bytes.contains("\x1b[2J"));
}

TEST(WatchScreen, CutsWhatDoesNotFitAndSaysSo) {
  const std::string bytes = redraw("1\n2\n3\n4\n5\n", "footer", 3);
  EXPECT_TRUE(bytes.contains("2")) << bytes;
  EXPECT_FALSE(bytes.contains("3\x1b")) << bytes;
  EXPECT_TRUE(bytes.ends_with("… footer")) << bytes;
}

}  // namespace
}  // namespace wardmote::cli
