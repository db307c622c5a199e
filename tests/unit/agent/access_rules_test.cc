#include "agent/access_rules.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/result.h"
#include "net/secret.h"

namespace wardmote::agent {
namespace {

using serve::Role;

class AccessRulesTest : public ::testing::Test {
 protected:
  AccessRulesTest() {
    std::string pattern = testing::TempDir() + "wardmote-access-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AccessRulesTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name) << bytes;
    return (folder_ / name).string();
  }
  static std::string complaint(const config::Api& api) {
    const auto rules = access_rules(api, "ctl-1");
    EXPECT_EQ(rules ? Errc::kProtocol : rules.error().code, Errc::kInvalid);
    return rules ? "" : rules.error().context;
  }

  std::filesystem::path folder_;
};

TEST_F(AccessRulesTest, KeepsDigestsOfTokensAndNumbersOfGroups) {
  config::Api api;
  api.tokens = {{"a", Role::kOperator, file("a", "0123456789abcdef\n")}};
  api.groups = {{"root", Role::kViewer}, {"4242", Role::kOperator}};
  api.hosts = {"ctl-1.example"};
  const auto rules = access_rules(api, "CTL-1");
  ASSERT_TRUE(rules) << rules.error().describe();
  ASSERT_EQ(rules->tokens.size(), 1U);
  EXPECT_EQ(rules->tokens[0].digest, codec::sha256("0123456789abcdef"));
  EXPECT_EQ(rules->tokens[0].role, Role::kOperator);
  EXPECT_EQ(rules->groups.at(0), Role::kViewer);
  EXPECT_EQ(rules->groups.at(4242), Role::kOperator);
  EXPECT_EQ(rules->users.at(0), Role::kAdmin);
  EXPECT_EQ(rules->users.at(::geteuid()), Role::kAdmin);
  EXPECT_TRUE(names_this_host(*rules, "ctl-1:9470"));
  EXPECT_TRUE(names_this_host(*rules, "ctl-1.example"));
}

TEST_F(AccessRulesTest, RefusesWhatIsNoTokenAndNeverQuotesIt) {
  for (const char* bad : {"", "short", "0123456789 abcdef", "0123456789abcdef\nmore", "\x01\x02"}) {
    config::Api api;
    api.tokens = {{"a", Role::kViewer, file("a", bad)}};
    const std::string said = complaint(api);
    EXPECT_TRUE(said.contains("holds no token")) << said;
    EXPECT_FALSE(said.contains("0123456789")) << said;
  }
  config::Api missing;
  missing.tokens = {{"a", Role::kViewer, (folder_ / "none").string()}};
  EXPECT_TRUE(complaint(missing).contains("cannot be read: missing"));
}

// Nobody writes into it, and whoever opened it plainly would wait for ever.
TEST_F(AccessRulesTest, APipeIsNoSecretAndHoldsNobodyUp) {
  const std::string pipe =
      (std::filesystem::temp_directory_path() / ("wardmote-pipe-" + std::to_string(::getpid())))
          .string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Result<std::string> secret = net::read_secret(pipe);
  std::filesystem::remove(pipe);
  ASSERT_FALSE(secret);
  EXPECT_TRUE(secret.error().context.contains("no regular file"));
}

TEST_F(AccessRulesTest, RefusesTwoOfTheSameTokenAndGroupsThatAreNone) {
  config::Api same;
  same.tokens = {{"a", Role::kViewer, file("a", "0123456789abcdef")},
                 {"b", Role::kAdmin, file("b", "0123456789abcdef\n")}};
  EXPECT_TRUE(complaint(same).contains("a and b are the same"));
  config::Api nobody;
  nobody.groups = {{"no-such-group", Role::kAdmin}};
  EXPECT_TRUE(complaint(nobody).contains("no group is named 'no-such-group'"));
}

}  // namespace
}  // namespace wardmote::agent
