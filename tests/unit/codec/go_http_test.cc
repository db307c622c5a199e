#include "codec/go_http.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

/// The status, or the error in Go's words, of an answer after which the peer closes.
std::string read(std::string_view answer, std::size_t piece = 1 << 20) {
  GoHttpReader reader;
  for (std::size_t at = 0; at < answer.size(); at += piece) {
    if (const Result<void> taken = reader.take(answer.substr(at, piece)); !taken)
      return taken.error().context;
    if (reader.has_head()) return std::to_string(reader.status());
  }
  return reader.closed().error().context;
}

/// Each was shown to net/http of Go.
TEST(GoHttp, TakesWhatGoTakes) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/3.1 200 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: foo\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"}) {
    EXPECT_EQ(read(answer), "200") << answer;
    EXPECT_EQ(read(answer, 1), "200") << answer;
  }
}

/// As fixLength in transfer.go of net/http: these have no body, whatever they say of its length.
TEST(GoHttp, OfSomeAnswersTheLengthIsNotRead) {
  const std::string length = " x\r\nContent-Length: x\r\n\r\n";
  EXPECT_EQ(read("HTTP/1.1 204" + length), "204");
  EXPECT_EQ(read("HTTP/1.1 304" + length), "304");
  for (const char* const other : {"203", "205", "303", "305"})
    EXPECT_EQ(read("HTTP/1.1 " + std::string(other) + length), "bad Content-Length \"x\"") << other;
}

TEST(GoHttp, RefusesWhatGoRefusesInItsWords) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n"),
            "unsupported transfer encoding: \"foo\"");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            "http: message cannot contain multiple Content-Length headers; got [\"1\" \"2\"]");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), "bad Content-Length \"x\"");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"),
            "malformed MIME header: missing colon: \"nonsense\"");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n x: y\r\n\r\n"), "malformed MIME header initial line:  x: y");
  EXPECT_EQ(read("HTTP/1.1 20 OK\r\n\r\n"), "malformed HTTP status code \"20\"");
  EXPECT_EQ(read("HTTP/1.10 200 OK\r\n\r\n"), "malformed HTTP version \"HTTP/1.10\"");
  EXPECT_EQ(read("<html>"), "malformed HTTP response \"<html>\"");
  EXPECT_EQ(read("\x16\x03\x01garbage"), "malformed HTTP response \"\\x16\\x03\\x01garbage\"");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Le"), "half an answer");
  EXPECT_EQ(read(""), "no answer");
}

TEST(GoHttp, HasACap) {
  GoHttpReader reader;
  const std::string line = "A: " + std::string(1 << 20, 'x') + "\r\n";
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\n"));
  Result<void> taken;
  for (int i = 0; i < 11 && taken; ++i) taken = reader.take(line);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::kLimit);
}

TEST(GoQuoted, IsGos) {
  EXPECT_EQ(go_quoted("a\"b\\c\n\x7f\xff"), R"("a\"b\\c\n\x7f\xff")");
  EXPECT_EQ(go_quoted("grün"), "\"grün\"");
}

}  // namespace
}  // namespace wardmote::codec
