#include "daemon/options.h"

#include <vector>

#include <gtest/gtest.h>

namespace wardmote::daemon {
namespace {

std::expected<Options, Farewell> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "wardmoted");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, AreReadAndHaveDefaults) {
  const auto plain = parse({});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->config, "/etc/wardmote/wardmote.yaml");
  EXPECT_FALSE(plain->order);
  const auto full =
      parse({"--config", "x.yaml", "--check", "--log-level", "debug", "--log-format", "json"});
  ASSERT_TRUE(full);
  EXPECT_EQ(full->config, "x.yaml");
  ASSERT_TRUE(full->order);
  EXPECT_EQ(full->order->verb, ConfigVerb::kCheck);
  EXPECT_EQ(full->order->files, std::vector<std::string>{"x.yaml"});
  EXPECT_EQ(full->log_level, LogLevel::kDebug);
  EXPECT_EQ(full->log_format, net::LogFormat::kJson);
}

TEST(Options, OrderSomethingForTheConfiguration) {
  const auto diff = parse({"--config", "old.yaml", "config", "diff", "new.yaml"});
  ASSERT_TRUE(diff) << diff.error().text;
  EXPECT_EQ(diff->order->verb, ConfigVerb::kDiff);
  EXPECT_EQ(diff->order->files, (std::vector<std::string>{"old.yaml", "new.yaml"}));
  EXPECT_EQ(parse({"config", "diff", "a", "b"})->order->files,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parse({"config", "show", "--effective"})->order->effective);
  EXPECT_EQ(parse({"config", "show"})->order->files,
            std::vector<std::string>{"/etc/wardmote/wardmote.yaml"});
  EXPECT_TRUE(parse({"config", "fmt", "-w", "a"})->order->write);
  EXPECT_EQ(parse({"config", "schema"})->order->verb, ConfigVerb::kSchema);
  EXPECT_EQ(parse({"config"}).error().exit_code, 64);
  EXPECT_EQ(parse({"config", "frobnicate"}).error().exit_code, 64);
  EXPECT_EQ(parse({"config", "check", "a", "b"}).error().exit_code, 64);
}

TEST(Options, HelpAndVersionEndWellOthersDoNot) {
  EXPECT_EQ(parse({"--help"}).error().exit_code, 0);
  EXPECT_NE(parse({"--help"}).error().text.find("wardmoted config check wardmote.yaml"),
            std::string::npos);
  EXPECT_TRUE(parse({"man"}).error().text.starts_with(".TH wardmoted 8 "));
  for (const char* word : {"\\-\\-log\\-level", "\\-\\-effective"})
    EXPECT_TRUE(parse({"man"}).error().text.contains(word)) << parse({"man"}).error().text;
  EXPECT_EQ(parse({"--version"}).error().text, "wardmoted " WARDMOTE_VERSION "\n");
  for (const std::vector<const char*>& wrong :
       {std::vector{"--nothing"}, {"--log-level", "loud"}, {"stray"}}) {
    EXPECT_EQ(parse(wrong).error().exit_code, 64);
    EXPECT_FALSE(parse(wrong).error().text.empty());
  }
}

TEST(Options, TheJournalIsThatOfTheConfigurationUnlessAFolderIsNamed) {
  EXPECT_FALSE(parse({})->journal);
  EXPECT_EQ(parse({"journal", "verify"})->journal, "");
  EXPECT_EQ(parse({"journal", "verify", "/var/lib/wardmote"})->journal, "/var/lib/wardmote");
  EXPECT_FALSE(parse({"journal", "verify"})->journal_rows);
  EXPECT_TRUE(parse({"journal", "export", "/d"})->journal_rows);
  EXPECT_EQ(parse({"journal", "export", "/d"})->journal, "/d");
  EXPECT_FALSE(parse({"journal"}));
}

}  // namespace
}  // namespace wardmote::daemon
