#include "codec/mail.h"

#include <chrono>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/text.h"

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

MailMessage sample() {
  MailMessage message;
  message.from = "wardmote@example.org";
  message.to = {"ann@example.org"};
  message.subject = "CRITICAL cluster:nb";
  message.message_id = mail_id("key", "example.org");
  message.thread_id = mail_id("group", "example.org");
  // RFC 5322 appendix A.1.1 has Fri, 21 Nov 1997 09:55:06 -0600.
  message.date =
      WallTime(std::chrono::sys_days(std::chrono::year(1997) / 11 / 21)) + 15h + 55min + 6s;
  message.text = "all is well\n";
  return message;
}

std::string_view head_of(std::string_view mail) {
  return mail.substr(0, mail.find("\r\n\r\n") + 2);
}
std::string_view body_of(std::string_view mail) {
  return mail.substr(mail.find("\r\n\r\n") + 4);
}

TEST(Mail, HasTheHeadersOfRfc5322) {
  const std::string mail = format_mail(sample());
  const std::string_view head = head_of(mail);
  EXPECT_TRUE(head.contains("Date: Fri, 21 Nov 1997 15:55:06 +0000\r\n")) << head;
  EXPECT_TRUE(head.contains("From: Wardmote <wardmote@example.org>\r\n"));
  EXPECT_TRUE(head.contains("To: <ann@example.org>\r\n"));
  EXPECT_TRUE(head.contains("Subject: CRITICAL cluster:nb\r\n"));
  EXPECT_TRUE(head.contains("Auto-Submitted: auto-generated\r\n")) << "no answers of robots";
  EXPECT_EQ(body_of(mail), "all is well\r\n");
}

TEST(Mail, NothingInASubjectBeginsAHeader) {
  MailMessage message = sample();
  message.subject = "x\r\nBcc: thief@example.org\r\n\r\nbody\n.\nMAIL FROM:<a@b>";
  const std::string mail = format_mail(message);
  for (std::string_view line : split(head_of(mail), '\n')) {
    EXPECT_FALSE(line.starts_with("Bcc")) << mail;
    EXPECT_FALSE(line.starts_with("MAIL")) << mail;
  }
  EXPECT_EQ(body_of(mail), "all is well\r\n") << "the body begins where we say";
}

TEST(Mail, OtherAlphabetsAreEncodedWordsOfWholeCharacters) {
  MailMessage message = sample();
  for (int i = 0; i < 40; ++i) message.subject += "ü";
  const std::string mail = format_mail(message);
  std::size_t words = 0;
  for (const std::string_view line : split(head_of(mail), '\n')) {
    EXPECT_LE(line.size(), 77U) << line;  // with the CR
    words += line.contains("=?utf-8?B?") ? 1U : 0U;
  }
  EXPECT_GT(words, 1U);
  message.subject = "ü";
  EXPECT_TRUE(format_mail(message).contains("Subject: =?utf-8?B?w7w=?=\r\n"));
}

TEST(Mail, ALongSubjectIsFoldedAtSpaces) {
  MailMessage message = sample();
  message.subject.clear();
  for (int i = 0; i < 30; ++i) message.subject += "a word ";
  for (const std::string_view line : split(head_of(format_mail(message)), '\n')) {
    EXPECT_LE(line.size(), 78U) << line;
  }
}

TEST(Mail, TheTextIsQuotedPrintable) {
  MailMessage message = sample();
  message.text = "a=b \nü\n.\n" + std::string(200, 'x');
  const std::string mail = format_mail(message);
  // RFC 2045 6.7: '=' and what is not ASCII as =XX, no space at a line's end, lines of 76 at most.
  EXPECT_TRUE(body_of(mail).starts_with("a=3Db=20\r\n=C3=BC\r\n.\r\nxxx")) << body_of(mail);
  for (const std::string_view line : split(body_of(mail), '\n')) EXPECT_LE(line.size(), 77U);
}

TEST(Mail, AnIdIsTheSameForTheSameKey) {
  EXPECT_EQ(mail_id("k", "h.example"), mail_id("k", "h.example"));
  EXPECT_NE(mail_id("k", "h.example"), mail_id("l", "h.example"));
  EXPECT_TRUE(mail_id("k", "h.example").ends_with("@h.example"));
  EXPECT_TRUE(mail_id("k", "h>\r\nX: y").ends_with("@wardmote.invalid"));
}

TEST(Mail, AddressesThatCouldEndALineAreNone) {
  for (const char* good : {"a@b", "first.last+tag@mail.example.org", "o'neil@example.org"}) {
    EXPECT_TRUE(is_mail_address(good)) << good;
  }
  for (const char* bad : {"", "a", "@b", "a@", "a@b>\r\nDATA", "a b@c", "a@b c", ".a@b", "a..b@c",
                          "<a@b>", "a@b\n", "\"a\"@b"}) {
    EXPECT_FALSE(is_mail_address(bad)) << bad;
  }
  // RFC 5321 4.5.3.1.3: a path of 256 octets, its brackets among them.
  const std::string longest(254 - std::string_view("@example.org").size(), 'a');
  EXPECT_TRUE(is_mail_address(longest + "@example.org"));
  EXPECT_FALSE(is_mail_address(longest + "a@example.org"));
}

}  // namespace
}  // namespace wardmote::codec
