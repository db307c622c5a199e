#include "codec/icmp.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

using namespace std::string_view_literals;

// RFC 792 and RFC 4443: type, code, checksum, identifier, sequence.
TEST(Icmp, RequestsAndRepliesOfBothFamilies) {
  EXPECT_EQ(encode_echo_request(false, 0x0102, "ab"), "\x08\0\0\0\0\0\1\2ab"sv);
  EXPECT_EQ(encode_echo_request(true, 3, ""), "\x80\0\0\0\0\0\0\3"sv);
  EXPECT_EQ(parse_echo_reply("\0\0\xaa\xbb\1\2\1\2ab"sv, false, "ab"), 0x0102);
  EXPECT_EQ(parse_echo_reply("\x81\0\xaa\xbb\1\2\0\3ab"sv, true, "ab"), 3);
}

TEST(Icmp, WhateverElseComesIsNoReply) {
  EXPECT_FALSE(parse_echo_reply("\0\0\xaa\xbb\1\2\1\2ac"sv, false, "ab")) << "another payload";
  EXPECT_FALSE(parse_echo_reply("\0\0\xaa\xbb\1\2\1\2abc"sv, false, "ab"));
  EXPECT_FALSE(parse_echo_reply("\x03\1\xaa\xbb\1\2\1\2ab"sv, false, "ab")) << "unreachable";
  EXPECT_FALSE(parse_echo_reply("\0\0\xaa\xbb\1\2\1\2ab"sv, true, "ab")) << "the other family";
  EXPECT_FALSE(parse_echo_reply("", false, "ab"));
}

}  // namespace
}  // namespace wardmote::codec
