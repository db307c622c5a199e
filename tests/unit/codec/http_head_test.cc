#include "codec/http_head.h"

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

Result<HttpHead> read(std::string_view bytes, std::size_t step = 1000, HttpHeadLimits limits = {}) {
  HttpHeadReader reader(limits);
  while (!bytes.empty()) {
    const std::size_t size = std::min(step, bytes.size());
    const Result<bool> whole = reader.feed(bytes.substr(0, size));
    if (!whole) return std::unexpected(whole.error());
    if (*whole) return reader.head();
    bytes.remove_prefix(size);
  }
  return fail(Errc::kClosed, "half");
}

TEST(HttpHead, ReadsStatusAndLocation) {
  for (const std::size_t step : {1U, 1000U}) {
    const auto head = read(
        "HTTP/1.1 302 Found\r\nServer: x\r\nLOCATION:  /a b \r\n\r\nbody that nobody reads", step);
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->status, 302);
    EXPECT_EQ(head->location, "/a b");
  }
}

TEST(HttpHead, LimitsHold) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'x')).error().code, Errc::kLimit);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 200; ++i) many += "A: b\r\n";
  EXPECT_EQ(read(many).error().code, Errc::kLimit);
}

TEST(HttpHead, WhatIsNoHeadIsTold) {
  for (const char* bytes :
       {"\x16\x03\x01", "SSH-2.0-x\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 abc\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: x\r\n",
        "HTTP/1.1 000 x\r\n"}) {
    const auto head = read(bytes);
    ASSERT_FALSE(head.has_value()) << bytes;
    EXPECT_EQ(head.error().code, Errc::kProtocol) << bytes;
  }
}

}  // namespace
}  // namespace wardmote::codec
