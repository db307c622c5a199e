#include "codec/monit_control.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {
namespace {

std::vector<std::string> words(const MonitStatement& statement) {
  std::vector<std::string> all;
  for (const MonitWord& word : statement.words) all.push_back(word.text);
  return all;
}

TEST(MonitControl, SplitsStatementsAndWords) {
  const auto file = parse_monit_control(
      "set daemon 60 # seconds\n"
      "CHECK FILE a PATH \"/var/set it\"\n"
      "  include /etc/monit/templates/*\n"
      "  if size>=1 kB then alert\n"
      "check host b address b.example\n"
      "  if failed url http://h/x?a=b,c then alert\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->statements.size(), 3U);
  EXPECT_EQ(words(file->statements[0]), (std::vector<std::string>{"set", "daemon", "60"}));
  EXPECT_EQ(words(file->statements[1]),
            (std::vector<std::string>{"CHECK", "FILE", "a", "PATH", "/var/set it", "if", "size",
                                      ">=", "1", "kB", "then", "alert"}));
  EXPECT_TRUE(file->statements[1].words[4].quoted());
  EXPECT_EQ(file->statements[1].words[5].line, 4U);
  EXPECT_EQ(words(file->statements[2])[8], "http://h/x?a=b,c");
  ASSERT_EQ(file->includes.size(), 1U);
  EXPECT_EQ(file->includes[0].text, "/etc/monit/templates/*");
}

TEST(MonitControl, KnowsWhichWordsStandTogetherAndTheirQuotes) {
  const auto file = parse_monit_control("set a=b 'c'\"d\" # e\nf,g");
  ASSERT_TRUE(file);
  std::string glued;
  std::string quotes;
  for (const MonitWord& word : file->statements.at(0).words) {
    glued += word.glued ? '+' : ' ';
    quotes += word.quoted() ? word.quote : '.';
  }
  EXPECT_EQ(glued, "  ++ + ++");
  EXPECT_EQ(quotes, "....'\"...");
}

TEST(MonitControl, SaysWhereAQuoteIsOpen) {
  const auto open = parse_monit_control("set daemon 5\ncheck file a path '/x\n");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().context, "line 2: the quote ' does not end");
  EXPECT_EQ(parse_monit_control(std::string("a\0b", 3)).error().code, Errc::kInvalid);
  EXPECT_EQ(parse_monit_control(std::string(kLargestMonitFile + 1, ' ')).error().code,
            Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
