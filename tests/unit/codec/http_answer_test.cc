#include "codec/http_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "codec/url.h"

namespace wardmote::codec {
namespace {

Result<void> read(HttpAnswerReader& reader, std::string_view text, std::size_t step = 0) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, step == 0 ? text.size() : step);
    if (Result<void> taken = reader.take(piece); !taken) return taken;
    text.remove_prefix(piece.size());
  }
  return {};
}

HttpAnswerReader whole(std::string_view text) {
  HttpAnswerReader reader;
  const Result<void> taken = read(reader, text);
  EXPECT_TRUE(taken.has_value()) << (taken ? "" : taken.error().describe());
  EXPECT_TRUE(reader.has_head());
  return reader;
}

Errc refused(std::string_view text) {
  HttpAnswerReader reader;
  const Result<void> taken = read(reader, text);
  EXPECT_FALSE(taken.has_value()) << text.substr(0, 80);
  return taken ? Errc::kInternal : taken.error().code;
}

TEST(HttpAnswer, WithALength) {
  const HttpAnswerReader reader =
      whole("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbad");
  EXPECT_EQ(reader.answer().status, 503);
  EXPECT_EQ(reader.answer().body, "bad");
  EXPECT_TRUE(reader.complete());
  EXPECT_TRUE(reader.reusable());
}

TEST(HttpAnswer, InChunksWithATrailer) {
  const HttpAnswerReader reader = whole(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nWiki\r\n5\r\npedia\r\n0\r\nT: "
      "1\r\n\r\n");
  EXPECT_EQ(reader.answer().body, "Wikipedia");
  EXPECT_TRUE(reader.reusable());
}

TEST(HttpAnswer, UntilTheEnd) {
  HttpAnswerReader reader = whole("HTTP/1.0 200 OK\r\n\r\nall that comes");
  EXPECT_FALSE(reader.complete());
  EXPECT_TRUE(reader.closed().has_value());
  EXPECT_TRUE(reader.complete());
  EXPECT_FALSE(reader.reusable());
}

TEST(HttpAnswer, WhatIsLenient) {
  EXPECT_EQ(whole("HTTP/1.1 200 OK\nContent-Length: 0\n\n").answer().status, 200);
  EXPECT_EQ(whole("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").answer().status, 200);
  EXPECT_EQ(whole("HTTP/1.0 200 OK\r\n\r\n").answer().status, 200);
  EXPECT_EQ(whole("HTTP/1.1 099 Weird\r\nContent-Length: 0\r\n\r\n").answer().status, 99);
  EXPECT_TRUE(whole("HTTP/1.1 204 No Content\r\n\r\n").complete());
  EXPECT_TRUE(whole("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n").complete());
  EXPECT_EQ(
      whole("HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\na").answer().body,
      "a");
}

TEST(HttpAnswer, AHeadHasNoBody) {
  HttpAnswerReader reader(true);
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").has_value());
  EXPECT_TRUE(reader.reusable());
}

TEST(HttpAnswer, InterimOnesArePassedOver) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(whole(interim + interim + last).answer().status, 200);
  std::string flood;
  for (int i = 0; i < 6; ++i) flood += interim;
  EXPECT_EQ(refused(flood), Errc::kLimit);
}

TEST(HttpAnswer, WhatIsNoneIsRefusedAtOnce) {
  EXPECT_EQ(refused("\x16\x03\x01garbage\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("SSH-2.0-OpenSSH_9.2\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("<html>old</html>"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/2.0 200 OK\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 20x OK\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 2000 OK\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nno header\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nA : b\r\n\r\n"), Errc::kProtocol);
}

TEST(HttpAnswer, LengthsThatContradictEachOtherAreQuotedInPart) {
  HttpAnswerReader reader;
  const std::string length = "Content-Length: " + std::string(30, '1');
  const auto taken = read(reader, "HTTP/1.1 200 OK\r\n" + length + "\r\n" + length + "2\r\n\r\n");
  ASSERT_FALSE(taken);
  const std::string shown(20, '1');
  EXPECT_EQ(taken.error().context, "two lengths: " + shown + "… and " + shown + "…");
}

TEST(HttpAnswer, LengthsThatContradictEachOther) {
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
            Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\n"),
            Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            Errc::kProtocol);
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
            Errc::kProtocol);
}

TEST(HttpAnswer, Caps) {
  EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nX: " + std::string(2 << 20, 'y')), Errc::kLimit);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 101; ++i) many += "X: y\r\n";
  EXPECT_EQ(refused(many + "\r\n"), Errc::kLimit);
  const HttpAnswerReader reader = whole("HTTP/1.1 200 OK\r\n\r\n" + std::string(200'000, 'x'));
  EXPECT_EQ(reader.answer().body.size(), 64U << 10);
  EXPECT_TRUE(reader.answer().cut);
  EXPECT_FALSE(whole("HTTP/1.1 200 OK\r\n\r\n" + std::string(64 << 10, 'x')).answer().cut);
  EXPECT_TRUE(reader.complete());
  EXPECT_FALSE(reader.reusable());
}

const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(HttpAnswer, TrailersHaveTheLimitsOfTheHeader) {
  const std::string body = kChunked + "2\r\nok\r\n0\r\n";
  EXPECT_TRUE(whole(body + repeated("T: 1\r\n", 100) + "\r\n").reusable());
  EXPECT_EQ(refused(body + repeated("T: 1\r\n", 101)), Errc::kLimit);
  // Fewer, but long ones.
  EXPECT_EQ(refused(body + repeated("T: " + std::string(900, 'x') + "\r\n", 80)), Errc::kLimit);
}

/// A server that sends one byte of body with each kilobyte of extension never fills the body.
TEST(HttpAnswer, ChunkExtensionsHaveALimit) {
  EXPECT_EQ(refused(kChunked + repeated("1;" + std::string(900, 'x') + "\r\nz\r\n", 80)),
            Errc::kLimit);
  EXPECT_EQ(refused(kChunked + repeated("1" + std::string(900, ' ') + "\r\nz\r\n", 80)),
            Errc::kLimit);
  EXPECT_EQ(whole(kChunked + repeated("1;x=y\r\nz\r\n", 1000)).answer().body.size(), 1000U);
}

TEST(HttpAnswer, CutShort) {
  HttpAnswerReader nothing;
  EXPECT_EQ(nothing.closed().error().code, Errc::kClosed);
  HttpAnswerReader half;
  ASSERT_TRUE(half.take("HTTP/1.1 200 OK\r\nContent-Le").has_value());
  EXPECT_EQ(half.closed().error().code, Errc::kClosed);
  EXPECT_FALSE(half.has_head());
  HttpAnswerReader body = whole("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  EXPECT_EQ(body.closed().error().code, Errc::kClosed);
}

TEST(HttpAnswer, BytesBehindItSpoilTheConnection) {
  EXPECT_FALSE(whole("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK").reusable());
  EXPECT_FALSE(
      whole("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n").reusable());
}

/// Pieces of any size change nothing.
RC_GTEST_PROP(HttpAnswer, ReadsTheSameInPieces, ()) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  HttpAnswerReader reader;
  const auto step = *rc::gen::inRange<std::size_t>(1, text.size() + 1);
  RC_ASSERT(read(reader, text, step).has_value());
  RC_ASSERT(reader.reusable());
  RC_ASSERT(reader.answer().body == "abcde");
  RC_ASSERT(reader.answer().header("a") == "b");
}

TEST(HttpRequest, IsWrittenOut) {
  EXPECT_EQ(format_http_request("GET", "/x?y", "h:80", false, {"A: b"}),
            "GET /x?y HTTP/1.1\r\nHost: h:80\r\nUser-Agent: wardmote\r\nAccept: */*\r\n"
            "Connection: close\r\nA: b\r\n\r\n");
  EXPECT_FALSE(format_http_request("GET", "/", "h", true, {"hOST: other"}).contains("Host: h"));
}

TEST(Url, Parts) {
  const Url url = parse_url("HTTP://[::1]:9099/readiness?verbose#top").value();
  EXPECT_EQ(url, (Url{"http", "::1", 9099, "/readiness?verbose"}));
  EXPECT_EQ(to_string(url), "http://[::1]:9099/readiness?verbose");
  EXPECT_EQ(parse_url("http://Example.ORG").value(), (Url{"http", "example.org", 80, "/"}));
  EXPECT_EQ(parse_url("https://h?q").value(), (Url{"https", "h", 443, "/?q"}));
  EXPECT_EQ(host_header(*parse_url("http://[fd00::1]/")), "[fd00::1]");
  EXPECT_EQ(host_header(*parse_url("http://h:8080/")), "h:8080");
  for (const std::string_view bad :
       {"", "h", "ftp://h/", "http://", "http:///x", "http://u:p@h/", "http://h:0/",
        "http://h:99999/", "http://[::1/", "http://h/ x", "http://h\r\nX: y/", "http://[::1]x/"}) {
    EXPECT_EQ(parse_url(bad).error().code, Errc::kInvalid) << bad;
  }
}

TEST(Url, WhatALocationLeadsTo) {
  const Url base = parse_url("http://h:81/a/b?c").value();
  const auto to = [&](std::string_view location) {
    const auto url = resolve(base, location);
    return url ? to_string(*url) : "nowhere";
  };
  EXPECT_EQ(to("/x"), "http://h:81/x");
  EXPECT_EQ(to("x?y:z"), "http://h:81/a/x?y:z");
  EXPECT_EQ(to("?q"), "http://h:81/a/b?q");
  EXPECT_EQ(to("//other/x"), "http://other:80/x");
  EXPECT_EQ(to("https://h/x"), "https://h:443/x");
  EXPECT_EQ(to("javascript:alert(1)"), "nowhere");
}

}  // namespace
}  // namespace wardmote::codec
