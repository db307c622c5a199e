#include "codec/json_keys.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace wardmote::codec {
namespace {

TEST(KeyGivenTwice, IsFoundHoweverItIsWritten) {
  EXPECT_EQ(key_given_twice(R"({"scope":"nb","for":"2h","scope":"all"})"), "scope");
  EXPECT_EQ(key_given_twice("{\"a\" \n: 1, \"\\u0061\":2}"), "a");
  EXPECT_EQ(key_given_twice(R"({"a\"b":1,"c":{},"a\"b":2})"), "a\"b");
}

TEST(KeyGivenTwice, ValuesAndInnerObjectsAreNoKeys) {
  for (const char* text : {"{}", R"({"a":"a","b":"a"})", R"({"a":["a","a"],"b":{"a":1,"b":2}})",
                           R"({"a":"{\"a\":1","b":"\\"})"}) {
    EXPECT_EQ(key_given_twice(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace wardmote::codec
