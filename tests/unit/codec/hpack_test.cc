#include "codec/hpack.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace wardmote::codec {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(*parse_number<int>(hex.substr(i, 2), 16));
  return bytes;
}

std::vector<HeaderField> decoded(HpackDecoder& decoder, std::string_view hex) {
  auto fields = decoder.decode(bytes_of(hex));
  EXPECT_TRUE(fields) << fields.error().describe();
  return fields ? *fields : std::vector<HeaderField>();
}

using Fields = std::vector<HeaderField>;

// RFC 7541, Appendix C.4.
TEST(Hpack, RequestsWithHuffmanCoding) {
  HpackDecoder decoder;
  const HeaderField host{":authority", "www.example.com"};
  const Fields first{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, host};
  EXPECT_EQ(decoded(decoder, "828684418cf1e3c2e5f23a6ba0ab90f4ff"), first);
  Fields second = first;
  second.push_back({"cache-control", "no-cache"});
  EXPECT_EQ(decoded(decoder, "828684be5886a8eb10649cbf"), second);
  const Fields third{{":method", "GET"},
                     {":scheme", "https"},
                     {":path", "/index.html"},
                     host,
                     {"custom-key", "custom-value"}};
  EXPECT_EQ(decoded(decoder, "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"), third);
}

// RFC 7541, Appendix C.6: a table of 256 bytes, from which entries fall.
TEST(Hpack, ResponsesThatEvictEntries) {
  HpackDecoder decoder(256);
  const Fields first{{":status", "302"},
                     {"cache-control", "private"},
                     {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                     {"location", "https://www.example.com"}};
  EXPECT_EQ(decoded(decoder,
                    "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff"
                    "6e919d29ad171863c78f0b97c8e9ae82ae43d3"),
            first);
  Fields second = first;
  second[0].value = "307";
  EXPECT_EQ(decoded(decoder, "4883640effc1c0bf"), second);
}

// RFC 7541, Appendix C.2.1 to C.2.3.
TEST(Hpack, LiteralsInEveryForm) {
  HpackDecoder decoder;
  const Fields custom{{"custom-key", "custom-header"}};
  EXPECT_EQ(decoded(decoder, "400a637573746f6d2d6b65790d637573746f6d2d686561646572"), custom);
  EXPECT_EQ(decoded(decoder, "040c2f73616d706c652f70617468"), (Fields{{":path", "/sample/path"}}));
  EXPECT_EQ(decoded(decoder, "100870617373776f726406736563726574"),
            (Fields{{"password", "secret"}}));
  EXPECT_EQ(decoded(decoder, "be"), custom) << "the only one that was remembered";
}

TEST(Hpack, OurOwnFieldsAreReadBack) {
  std::string block;
  encode_field(block, ":path", "/grpc.health.v1.Health/Check");
  encode_field(block, "long", std::string(300, 'x'));
  HpackDecoder decoder;
  EXPECT_EQ(*decoder.decode(block),
            (Fields{{":path", "/grpc.health.v1.Health/Check"}, {"long", std::string(300, 'x')}}));
}

TEST(Hpack, WhatIsBrokenIsAnError) {
  const auto fails = [](std::string_view hex) {
    return !HpackDecoder().decode(bytes_of(hex)).has_value();
  };
  EXPECT_TRUE(fails("80")) << "entry 0";
  EXPECT_TRUE(fails("be")) << "an entry that nobody made";
  EXPECT_TRUE(fails("ffffffffffff7f")) << "a number without an end";
  EXPECT_TRUE(fails("400a6375")) << "cut";
  EXPECT_TRUE(fails("3fe2ff01")) << "a table larger than announced";
  EXPECT_TRUE(fails("0084ffffffff00")) << "the end's own code";
  EXPECT_TRUE(fails("00810000")) << "padding that is no ones";
}

TEST(Hpack, ABlockThatGrowsIsCut) {
  HpackDecoder decoder;
  std::string bomb;
  encode_field(bomb, "a", std::string(4000, 'x'));
  bomb[0] = '\x40';  // remembered
  ASSERT_TRUE(decoder.decode(bomb));
  const auto fields = decoder.decode(std::string(1000, '\xbe'));
  ASSERT_FALSE(fields);
  EXPECT_EQ(fields.error().code, Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
