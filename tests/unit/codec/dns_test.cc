#include "codec/dns.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

const DnsQuestion kAsked{0x1234, "api.example", DnsType::kA};

/// A reply to `asked`, with so many answers, which follow the question.
std::string reply_to(const DnsQuestion& asked, std::uint16_t flags, int count,
                     std::string_view answers) {
  std::string bytes = encode_dns_query(asked).value();
  bytes[2] = static_cast<char>(0x80 | flags >> 8);
  bytes[3] = static_cast<char>(flags & 0xff);
  bytes[7] = static_cast<char>(count);
  return bytes.append(answers);
}

/// RFC 1035 2.3.4: a name has at most 255 octets, lengths and the last zero included.
TEST(Dns, ANameThatIsTooLongIsNoName) {
  const auto reads = [](int more) {
    const DnsQuestion asked{7, "x.example", DnsType::kNs};
    // Three labels of 63 octets, one of `more`, and behind the pointer "example": 9 octets.
    std::string name;
    for (int i = 0; i < 3; ++i) name += '\x3f' + std::string(63, 'a');
    name += static_cast<char>(more) + std::string(static_cast<std::size_t>(more), 'b') + "\xc0\x0e";
    std::string answer("\xc0\x0c\0\2\0\1\0\0\0\1\0", 11);
    answer += static_cast<char>(name.size());
    return parse_dns_reply(reply_to(asked, 0, 1, answer + name), asked).has_value();
  };
  EXPECT_TRUE(reads(255 - 192 - 9 - 1));
  EXPECT_FALSE(reads(255 - 192 - 9));
}

// RFC 1035 4.1: the header, the question behind it.
TEST(Dns, AQueryOnTheWire) {
  EXPECT_EQ(encode_dns_query(kAsked).value(),
            std::string_view("\x12\x34\1\0\0\1\0\0\0\0\0\0\3api\7example\0\0\1\0\1", 29));
  EXPECT_EQ(encode_dns_query({1, ".", DnsType::kNs}).value(),
            std::string_view("\0\1\1\0\0\1\0\0\0\0\0\0\0\0\2\0\1", 17));
  for (const std::string& bad : {std::string(), std::string("a..b"), std::string(64, 'a') + ".b",
                                 std::string("a.") + std::string(300, 'b')})
    EXPECT_FALSE(encode_dns_query({1, bad, DnsType::kA})) << bad;
  std::string longest;
  for (int i = 0; i < 127; ++i) longest += i == 0 ? "a" : ".a";
  EXPECT_TRUE(encode_dns_query({1, longest, DnsType::kA}));
  EXPECT_FALSE(encode_dns_query({1, longest + ".a", DnsType::kA}));
}

TEST(Dns, AnswersWithCompressedNames) {
  // An alias, and its address; 0xc00c is the question's name.
  const std::string_view answers(
      "\xc0\x0c\0\5\0\1\0\0\1\x2c\0\x04\1b\xc0\x10"
      "\xc0\x29\0\1\0\1\0\0\0\x3c\0\4\x0a\0\0\7",
      16 + 16);
  const DnsReply reply = parse_dns_reply(reply_to(kAsked, 0x0400, 2, answers), kAsked).value();
  EXPECT_TRUE(reply.authoritative);
  EXPECT_EQ(reply.rcode, 0U);
  ASSERT_EQ(reply.answers.size(), 2U);
  EXPECT_EQ(reply.answers[0], (DnsRecord{"api.example", 5, 300, "b.example"}));
  EXPECT_EQ(reply.answers[1], (DnsRecord{"b.example", 1, 60, "10.0.0.7"}));
}

TEST(Dns, DataOfEveryKnownType) {
  const auto data_of = [](DnsType type, std::string_view data) {
    const DnsQuestion asked{7, "x.example", type};
    std::string answer("\xc0\x0c\0", 3);
    answer += static_cast<char>(type);
    answer.append("\0\1\0\0\0\1\0", 7);
    answer += static_cast<char>(data.size());
    answer.append(data);
    const auto reply = parse_dns_reply(reply_to(asked, 0, 1, answer), asked);
    return reply ? reply->answers.at(0).data : reply.error().describe();
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(data_of(DnsType::kAaaa, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"sv), "fd00::1");
  EXPECT_EQ(data_of(DnsType::kSrv, "\0\1\0\2\x19\xf3\3DB1\xc0\x0e"sv), "1 2 6643 db1.example");
  EXPECT_EQ(data_of(DnsType::kMx, "\0\x0a\2mx\0"sv), "10 mx");
  EXPECT_EQ(data_of(DnsType::kTxt, "\3abc\0\2de"sv), "abcde");
  EXPECT_EQ(data_of(DnsType::kNs, "\2ns\xc0\x0e"sv), "ns.example");
  EXPECT_EQ(data_of(DnsType::kPtr, "\3a.b\0"sv), "a\\046b") << "a dot within a part";
  EXPECT_EQ(data_of(DnsType::kSoa, "\1a\0\1b\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"sv),
            "a b 1 2 3 4 5");
}

TEST(Dns, RepliesToSomebodyElseAreTold) {
  const auto code_of = [](const std::string& bytes) {
    const auto reply = parse_dns_reply(bytes, kAsked);
    return reply ? Errc::kInternal : reply.error().code;
  };
  std::string other_id = reply_to(kAsked, 0, 0, "");
  other_id[0] = '\0';
  EXPECT_EQ(code_of(other_id), Errc::kRejected);
  EXPECT_EQ(code_of(encode_dns_query(kAsked).value()), Errc::kRejected) << "a query";
  EXPECT_EQ(code_of(reply_to({0x1234, "API.example", DnsType::kA}, 0, 0, "")), Errc::kRejected);
  EXPECT_EQ(code_of(reply_to({0x1234, "api.example", DnsType::kTxt}, 0, 0, "")), Errc::kRejected);
  EXPECT_EQ(code_of("short"), Errc::kProtocol);
}

TEST(Dns, CutsLoopsAndLiesAreErrors) {
  const auto fails = [](int count, std::string_view answers) {
    const auto reply = parse_dns_reply(reply_to(kAsked, 0, count, answers), kAsked);
    return !reply && reply.error().code == Errc::kProtocol;
  };
  using namespace std::string_view_literals;
  EXPECT_TRUE(fails(1, "")) << "an answer that is not there";
  EXPECT_TRUE(fails(1, "\xc0\x1d\0\1\0\1\0\0\0\1\0\4\x0a\0\0\1"sv)) << "a name that is itself";
  EXPECT_TRUE(fails(1, "\xc0\xff\0\1\0\1\0\0\0\1\0\4\x0a\0\0\1"sv)) << "a pointer ahead";
  EXPECT_TRUE(fails(1, "\1a\xc0\x1d\0\1\0\1\0\0\0\1\0\4\x0a\0\0\1"sv)) << "a loop of two";
  EXPECT_TRUE(fails(1, "\xc0\x0c\0\1\0\1\0\0\0\1\0\5\x0a\0\0\1\2"sv)) << "five bytes of address";
  EXPECT_TRUE(fails(1, "\xc0\x0c\0\1\0\1\0\0\0\1\xff\xff\x0a\0\0\1"sv)) << "data past the end";
  EXPECT_TRUE(fails(1, "\x80\0\0\1\0\1\0\0\0\1\0\4\x0a\0\0\1"sv)) << "neither length nor pointer";
  EXPECT_TRUE(fails(1, "\xc0\x0c\0\x10\0\1\0\0\0\1\0\2\7a"sv)) << "a text longer than its data";
}

TEST(Dns, TruncatedRepliesAndErrorsWithoutAQuestion) {
  const auto cut = parse_dns_reply(reply_to(kAsked, 0x0200, 3, ""), kAsked);
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->truncated);
  EXPECT_TRUE(cut->answers.empty());
  using namespace std::string_view_literals;
  const auto refused = parse_dns_reply("\x12\x34\x80\5\0\0\0\0\0\0\0\0"sv, kAsked);
  ASSERT_TRUE(refused);
  EXPECT_EQ(dns_rcode_name(refused->rcode), "REFUSED");
  EXPECT_FALSE(parse_dns_reply("\x12\x34\x80\0\0\0\0\0\0\0\0\0"sv, kAsked));
}

TEST(Dns, NamesOfTypesAndCodes) {
  EXPECT_EQ(dns_type_of("srv"), DnsType::kSrv);
  EXPECT_EQ(dns_type_of("ANY"), std::nullopt);
  EXPECT_EQ(to_string(DnsType::kAaaa), "AAAA");
  EXPECT_EQ(dns_rcode_name(3), "NXDOMAIN");
  EXPECT_EQ(dns_rcode_name(15), "RCODE15");
}

}  // namespace
}  // namespace wardmote::codec
