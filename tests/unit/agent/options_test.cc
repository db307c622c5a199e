#include "agent/options.h"

#include <vector>

#include <gtest/gtest.h>

namespace wardmote::agent {
namespace {

std::expected<Options, Farewell> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "wardmoted");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, AreReadAndHaveDefaults) {
  const auto plain = parse({});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->config, "/etc/wardmote/wardmote.yaml");
  EXPECT_FALSE(plain->check);
  const auto full =
      parse({"--config", "x.yaml", "--check", "--log-level", "debug", "--log-format", "json"});
  ASSERT_TRUE(full);
  EXPECT_EQ(full->config, "x.yaml");
  EXPECT_TRUE(full->check);
  EXPECT_EQ(full->log_level, LogLevel::kDebug);
  EXPECT_EQ(full->log_format, LogFormat::kJson);
}

TEST(Options, HelpAndVersionEndWellOthersDoNot) {
  EXPECT_EQ(parse({"--help"}).error().exit_code, 0);
  EXPECT_NE(parse({"--help"}).error().text.find("wardmoted --config wardmote.yaml --check"),
            std::string::npos);
  EXPECT_EQ(parse({"--version"}).error().text, "wardmoted " WARDMOTE_VERSION "\n");
  for (const std::vector<const char*>& wrong :
       {std::vector{"--nothing"}, {"--log-level", "loud"}, {"stray"}}) {
    EXPECT_EQ(parse(wrong).error().exit_code, 64);
    EXPECT_FALSE(parse(wrong).error().text.empty());
  }
}

}  // namespace
}  // namespace wardmote::agent
