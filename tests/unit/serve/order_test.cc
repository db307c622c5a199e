#include "serve/order.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/http.h"

namespace wardmote::serve {
namespace {

Result<boost::json::object> parsed(std::string body) {
  runtime::HttpRequest request{.method = "POST", .path = "/api/v1/pauses"};
  request.body = std::move(body);
  return parse_order(request, {"scope", "for"});
}

std::string refusal(std::string body) {
  const auto order = parsed(std::move(body));
  if (order) return "";
  EXPECT_EQ(order.error().code, Errc::kInvalid);
  return order.error().context;
}

TEST(ParseOrder, TakesItsOwnKeysAndWhoGivesIt) {
  EXPECT_TRUE(parsed(""));
  EXPECT_TRUE(parsed("{}"));
  const auto order = parsed(R"({"scope": "nb", "for": "2h", "by": "ann"})");
  ASSERT_TRUE(order);
  EXPECT_EQ(order->at("scope").as_string(), "nb");
}

// {"cluster":"nb","fro":"2h"} once paused every cluster for ever.
TEST(ParseOrder, NamesEachKeyThatItDoesNotKnow) {
  EXPECT_EQ(refusal(R"({"cluster": "nb", "fro": "2h"})"),
            "this order has no 'cluster', 'fro'; it has scope, for, by");
  EXPECT_EQ(refusal("{\"\\u001b\": 1}"), "this order has no '\\x1b'; it has scope, for, by");
}

TEST(ParseOrder, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(refusal(R"({"scope": "nb", "scope": "all"})"), "'scope' is given twice");
}

TEST(ParseOrder, RefusesWhatIsNoNameOfWhoGivesIt) {
  EXPECT_EQ(refusal(R"({"by": 3})"), "'by' is not a text of at most 256 bytes");
  EXPECT_EQ(refusal("[]"), "the body is not a JSON object");
}

}  // namespace
}  // namespace wardmote::serve
