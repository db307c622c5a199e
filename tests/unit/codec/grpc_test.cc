#include "codec/grpc.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "codec/http2_session.h"

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

// github.com/grpc/grpc, doc/health-checking.md: `string service = 1`, `ServingStatus status = 1`.
TEST(GrpcHealth, MessagesOfTheProtocol) {
  EXPECT_EQ(encode_health_request(""), "");
  EXPECT_EQ(encode_health_request("db"),
            "\x0a\x02"
            "db");
  EXPECT_EQ(encode_grpc_message("db"), std::string_view("\0\0\0\0\2db", 7));
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\2\x08\1", 7)), 1);
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\0", 5)), 0) << "UNKNOWN is left out";
  // A field of years to come.
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\6\x12\2xx\x08\2", 11)), 2);
  for (const std::string_view bad :
       {std::string_view("\0\0\0\0\2\x08", 6), std::string_view("", 0),
        std::string_view("\1\0\0\0\2\x08\1", 7), std::string_view("\0\0\0\0\2\x08\x80", 7),
        std::string_view("\0\0\0\0\2\x0a\7", 7)})
    EXPECT_FALSE(parse_health_response(bad));
}

TEST(GrpcHealth, HeadersOfAnAnswer) {
  EXPECT_TRUE(check_grpc_headers({{":status", "200"}, {"content-type", "application/grpc"}}));
  EXPECT_FALSE(check_grpc_headers({{":status", "502"}, {"content-type", "text/html"}}));
  EXPECT_FALSE(check_grpc_headers({{":status", "200"}, {"content-type", "text/html"}}));
  const auto status = find_grpc_status({{"grpc-status", "5"}, {"grpc-message", "no%20such%"}});
  ASSERT_TRUE(status && *status);
  EXPECT_EQ((*status)->code, 5);
  EXPECT_EQ((*status)->message, "no such%");
  EXPECT_EQ((*find_grpc_status({{"grpc-status", "0"}}))->code, 0);
  EXPECT_EQ((*find_grpc_status({{"grpc-status", "16"}}))->code, 16);
  for (const char* no : {"x", "", "-0", "00", "+0", "0x0", " 0", "-1", "016", "0,0"})
    EXPECT_EQ(find_grpc_status({{"grpc-status", no}}).error().code, Errc::kProtocol) << no;
  EXPECT_EQ(find_grpc_status({{"grpc-status", "0"}, {"grpc-status", "14"}}).error().code,
            Errc::kProtocol);
  EXPECT_EQ(*find_grpc_status({}) ? 1 : 0, 0);
}

TEST(GrpcHealth, TheServerLearnsOurDeadline) {
  const auto timeout_of = [](Duration left) {
    for (const HeaderField& field : grpc_headers("http", "a:1", "/x", left))
      if (field.name == "grpc-timeout") return field.value;
    return std::string();
  };
  EXPECT_EQ(timeout_of(1500ms), "1500m");
  EXPECT_EQ(timeout_of(0ms), "1m");
}

}  // namespace
}  // namespace wardmote::codec
