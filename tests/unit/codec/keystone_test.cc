#include "codec/keystone.h"

#include <boost/json/parse.hpp>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// Of Keystone 22.0.2, without roles, project and links.
constexpr const char* kAnswer =
    R"({"token":{"methods":["password"],"expires_at":"2026-11-20T09:14:38.000000Z",
 "issued_at":"2026-11-20T08:14:38.000000Z","catalog":[
 {"endpoints":[{"id":"a","interface":"public","region_id":"RegionOne","url":"http://127.0.0.1:15000/v3","region":"RegionOne"}],
  "id":"b","type":"identity","name":"keystone"},
 {"endpoints":[{"id":"c","interface":"internal","region":"RegionOne","url":"http://10.0.0.1:15868/v1"},
               {"id":"d","interface":"public","region":"RegionTwo","url":"http://two:15868/v1"},
               {"id":"e","interface":"public","region":"RegionOne","url":"http://one:15868/v1"}],
  "id":"f","type":"instance-ha","name":"masakari"}]}})";

TEST(Keystone, TellsWhenTheTokenEndsAndWhereServicesAre) {
  const auto token = parse_keystone_token(kAnswer);
  ASSERT_TRUE(token) << token.error().describe();
  EXPECT_EQ(token->expires,
            WallTime(std::chrono::sys_days(std::chrono::year(2026) / 11 / 20)) + 9h + 14min + 38s);
  EXPECT_EQ(find_endpoint(*token, "instance-ha", "public", ""), "http://two:15868/v1");
  EXPECT_EQ(find_endpoint(*token, "instance-ha", "public", "RegionOne"), "http://one:15868/v1");
  EXPECT_EQ(find_endpoint(*token, "instance-ha", "internal", ""), "http://10.0.0.1:15868/v1");
  EXPECT_EQ(find_endpoint(*token, "instance-ha", "admin", ""), std::nullopt);
  EXPECT_EQ(find_endpoint(*token, "compute", "public", ""), std::nullopt);
}

TEST(Keystone, AnAnswerWithoutATokenOrAnEndIsNone) {
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"token":7})", R"({"token":{}})",
        R"({"token":{"expires_at":"soon"}})", R"({"token":{"expires_at":"2026-13-20T09:14:38Z"}})",
        R"({"token":{"expires_at":"9999-12-31T23:59:59Z"}})",
        R"({"token":{"expires_at":"2026-11-20T09:14:38"}})"}) {
    EXPECT_FALSE(parse_keystone_token(bad)) << bad;
  }
  const auto odd = parse_keystone_token(
      R"({"token":{"expires_at":"2026-11-20T09:14:38Z","catalog":[7,{"endpoints":{}},{"type":1,"endpoints":[null,{"url":2}]}]}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(find_endpoint(*odd, "", "", ""), std::nullopt);
}

TEST(Keystone, AsksByPasswordOrByApplicationCredential) {
  const KeystoneLogin person{"", "ann", "Default", "ops", "Default", "se\"cret"};
  const json::value by_password = json::parse(format_keystone_login(person));
  EXPECT_EQ(by_password,
            json::parse(R"({"auth":{"identity":{"methods":["password"],"password":{"user":
      {"name":"ann","domain":{"name":"Default"},"password":"se\"cret"}}},
      "scope":{"project":{"name":"ops","domain":{"name":"Default"}}}}})"));
  const KeystoneLogin credential{"1f", "", "", "", "", "s"};
  EXPECT_EQ(json::parse(format_keystone_login(credential)),
            json::parse(R"({"auth":{"identity":{"methods":["application_credential"],
                "application_credential":{"id":"1f","secret":"s"}}}})"));
}

}  // namespace
}  // namespace wardmote::codec
