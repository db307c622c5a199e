#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/asio_runtime.h"
#include "net/curl/http_client.h"
#include "runtime/task_group.h"

namespace wardmote::net {
namespace {

using runtime::Endpoint;
using runtime::MailCall;
using runtime::MailReceipt;
using runtime::Stream;
using runtime::Task;
using namespace std::chrono_literals;

/// How a mail server behaves that is not to be trusted.
struct Manner {
  std::string greeting = "220 here\r\n";
  std::string ehlo = "250 here\r\n";
  std::string mail = "250 good\r\n";
  std::string recipient = "250 good\r\n";
  std::string second;  ///< of `b@…`; empty: as of the other
  std::string data = "354 go on\r\n";
  std::string taken = "250 taken\r\n";
  bool ignores_quit = false;
};

const std::string& answer_to(const Manner& manner, const std::string& line) {
  static const std::string kOther = "250 good\r\n";
  if (line.starts_with("EHLO")) return manner.ehlo;
  if (line.starts_with("MAIL")) return manner.mail;
  if (line.starts_with("RCPT TO:<b@") && !manner.second.empty()) return manner.second;
  if (line.starts_with("RCPT")) return manner.recipient;
  if (line.starts_with("DATA")) return manner.data;
  return kOther;
}

/// Everything up to `end` of what the client says; empty when it is gone.
Task<std::string> hear(Stream* stream, std::string* rest, std::string end, runtime::Deadline by) {
  std::array<char, 4096> chunk{};
  for (;;) {
    const std::size_t at = rest->find(end);
    if (at != std::string::npos) {
      std::string line = rest->substr(0, at + end.size());
      rest->erase(0, at + end.size());
      co_return line;
    }
    const auto got = co_await stream->read_some(chunk, by);
    if (!got) co_return std::string();
    rest->append(chunk.data(), *got);
  }
}

/// A fake: no real server can be told to do these things.
Task<void> serve_once(AsioRuntime* runtime, runtime::Listener* listener, const Manner* manner,
                      std::string* heard) {
  auto accepted = co_await listener->accept();
  if (!accepted) co_return;
  Stream* const stream = accepted->get();
  const runtime::Deadline by = runtime->deadline_in(5s);
  std::string rest;
  auto written = co_await stream->write(manner->greeting, by);
  while (written) {
    const std::string line = co_await hear(stream, &rest, "\r\n", by);
    if (line.empty()) co_return;
    *heard += line;
    if (line.starts_with("QUIT") && manner->ignores_quit) continue;
    written = co_await stream->write(answer_to(*manner, line), by);
    if (!line.starts_with("DATA") || !manner->data.starts_with("3") || !written) continue;
    *heard += co_await hear(stream, &rest, "\r\n.\r\n", by);
    written = co_await stream->write(manner->taken, by);
  }
}

class MailTest : public ::testing::Test {
 protected:
  Result<MailReceipt> send(Duration timeout = 3s) {
    return run_task(runtime_, send_and_serve(this, timeout));
  }
  static Task<Result<MailReceipt>> send_and_serve(MailTest* test, Duration timeout) {
    test->heard_.clear();
    auto listener = test->listen();
    runtime::TaskGroup group(test->runtime_.executor());
    group.spawn("server",
                serve_once(&test->runtime_, listener.get(), &test->manner_, &test->heard_));
    MailCall call = test->call_;
    call.server = "127.0.0.1:" + std::to_string(test->port_);
    const runtime::Deadline deadline = test->runtime_.deadline_in(timeout);
    Result<MailReceipt> result = co_await test->client_.send(std::move(call), deadline);
    co_await group.stop();
    co_return result;
  }
  MailTest() {
    call_.tls = MailCall::Tls::kNever;
    call_.helo = "ctl-1";
    call_.from = "w@example.org";
    call_.to = {"a@example.org", "b@example.org"};
    call_.message = "Subject: x\r\n\r\nfirst\r\n.\r\nMAIL FROM:<thief@example.org>\r\n";
  }
  std::unique_ptr<runtime::Listener> listen() {
    for (port_ = 24200; port_ < 24300; ++port_) {
      auto listener = runtime_.listen(Endpoint::tcp("127.0.0.1", port_));
      if (listener) return *std::move(listener);
    }
    return nullptr;
  }

  AsioRuntime runtime_;
  CurlHttpClient client_{runtime_};
  Manner manner_;
  MailCall call_;
  std::string heard_;
  std::uint16_t port_ = 0;
};

TEST_F(MailTest, SaysWhoWhatAndToWhom) {
  const auto sent = send();
  ASSERT_TRUE(sent) << sent.error().describe();
  for (const char* line : {"EHLO ctl-1\r\n", "MAIL FROM:<w@example.org>", "RCPT TO:<a@example.org>",
                           "RCPT TO:<b@example.org>", "DATA\r\n"}) {
    EXPECT_TRUE(heard_.contains(line)) << heard_;
  }
}

TEST_F(MailTest, ALineOfOneFullStopDoesNotEndIt) {
  ASSERT_TRUE(send());
  // RFC 5321 4.5.2.
  EXPECT_TRUE(heard_.contains("\r\nfirst\r\n..\r\nMAIL FROM:<thief@example.org>\r\n.\r\n"))
      << heard_;
}

TEST_F(MailTest, WhereSecrecyIsWantedNothingIsSentWithoutIt) {
  call_.tls = MailCall::Tls::kStartTls;
  call_.user = "u";
  call_.password = "MAILSECRET";
  manner_.ehlo = "250-here\r\n250 AUTH PLAIN LOGIN\r\n";  // and no STARTTLS
  const auto sent = send();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::kDenied) << sent.error().describe();
  EXPECT_FALSE(heard_.contains("AUTH") || heard_.contains("MAIL")) << heard_;
  EXPECT_FALSE(sent.error().describe().contains("MAILSECRET"));
}

TEST_F(MailTest, WhatAServerSaysIsNeverOrLater) {
  const std::pair<const char*, bool> answers[] = {{"554 5.7.1 no thanks\r\n", true},
                                                  {"450 4.7.1 no thanks\r\n", false}};
  for (const auto& [answer, never] : answers) {
    for (std::string Manner::* const turn : {&Manner::mail, &Manner::data, &Manner::taken}) {
      manner_ = {};
      manner_.*turn = answer;
      const Result<MailReceipt> sent = send();
      ASSERT_FALSE(sent) << answer;
      EXPECT_EQ(sent.error().code == Errc::kRejected, never) << sent.error().describe();
      EXPECT_TRUE(sent.error().describe().contains("no thanks")) << sent.error().describe();
    }
  }
}

TEST_F(MailTest, OneRecipientWhoIsRefusedCostsTheOtherNothing) {
  const std::pair<const char*, bool> answers[] = {
      {"550-5.1.1 no such user\r\n550 5.1.1 ask the postmaster\r\n", true},
      {"450 greylisted\r\n", false}};
  for (const auto& [answer, never] : answers) {
    manner_.second = answer;
    const Result<MailReceipt> sent = send();
    ASSERT_TRUE(sent) << sent.error().describe();
    ASSERT_EQ(sent->refused.size(), 1U);
    EXPECT_EQ(sent->refused[0].address, "b@example.org");
    EXPECT_EQ(sent->refused[0].for_ever, never);
    EXPECT_EQ(sent->refused[0].answer,
              never ? "550 5.1.1 no such user 5.1.1 ask the postmaster" : "450 greylisted");
    EXPECT_TRUE(heard_.contains("\r\n.\r\n")) << "the other has it";
  }
}

TEST_F(MailTest, WhenAllAreRefusedEachHasItsAnswer) {
  manner_.recipient = "450 later\r\n";
  manner_.second = "550 never\r\n";
  const Result<MailReceipt> sent = send();
  ASSERT_TRUE(sent) << sent.error().describe();
  ASSERT_EQ(sent->refused.size(), 2U);
  EXPECT_FALSE(sent->refused[0].for_ever);
  EXPECT_TRUE(sent->refused[1].for_ever);
  EXPECT_FALSE(heard_.contains("DATA"));
}

/// What one recipient was told says nothing about the message.
TEST_F(MailTest, AConnectionThatBreaksAfterARefusedRecipientIsTriedAgain) {
  manner_.second = "550 never\r\n";
  manner_.data = "";
  const Result<MailReceipt> sent = send(500ms);
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().code, Errc::kRejected) << sent.error().describe();
}

/// libcurl's thread waits for it, and it is the thread of all receivers.
TEST_F(MailTest, AServerThatIgnoresTheFarewellHoldsUpNobody) {
  manner_.ignores_quit = true;
  for (const char* taken : {"250 taken\r\n", "554 no\r\n"}) {
    manner_.taken = taken;
    const TimePoint before = runtime_.now();
    EXPECT_EQ(send().has_value(), manner_.taken.starts_with("2"));
    EXPECT_LT(runtime_.now() - before, 2s);
  }
}

TEST_F(MailTest, AHostileAnswerIsCut) {
  manner_.second = "550 \x1b[31m" + std::string(5000, 'x') + "\r\n";
  const Result<MailReceipt> sent = send();
  ASSERT_TRUE(sent) << sent.error().describe();
  EXPECT_LT(sent->refused.at(0).answer.size(), 300U);
  EXPECT_FALSE(sent->refused.at(0).answer.contains('\x1b'));
}

TEST_F(MailTest, SilenceAndChatterEndAtTheDeadline) {
  std::string endless;
  while (endless.size() < (8U << 20U)) endless += "220-and so on and on\r\n";
  for (std::string Manner::* const turn : {&Manner::greeting, &Manner::data, &Manner::taken}) {
    for (const std::string& words : {std::string(), endless, std::string(200'000, '2')}) {
      manner_ = {};
      manner_.*turn = words;
      const TimePoint before = runtime_.now();
      const auto sent = send(300ms);
      ASSERT_FALSE(sent);
      EXPECT_LT(runtime_.now() - before, 2s);
    }
  }
}

TEST_F(MailTest, WithoutAServerItSaysSo) {
  call_.server = "127.0.0.1:1";
  MailCall call = call_;
  const auto sent = run_task(runtime_, client_.send(std::move(call), runtime_.deadline_in(2s)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::kRefused) << sent.error().describe();
}

}  // namespace
}  // namespace wardmote::net
