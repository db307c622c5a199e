#include "act/notify/mail.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/journal.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::act::notify {
namespace {

using judge::notify::Notice;
using judge::notify::NoticeItem;
using runtime::Deadline;
using runtime::MailCall;
using runtime::MailReceipt;
using runtime::Task;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

class FakeMail final : public runtime::MailClient {
 public:
  Task<Result<MailReceipt>> send(MailCall call, Deadline) override {
    calls.push_back(std::move(call));
    co_return answer;
  }
  Result<MailReceipt> answer;
  std::vector<MailCall> calls;
};

class FakeJournal final : public runtime::Journal {
 public:
  explicit FakeJournal(std::string& into) : into_(into) {}
  Result<void> send(std::string_view entry) override {
    into_ += entry;
    return answer;
  }
  Result<void> answer;

 private:
  std::string& into_;
};

class Telling : public ::testing::Test {
 protected:
  Telling() {
    notice.group = "oncall{root=cluster:nb}";
    notice.number = 3;
    notice.receiver = "oncall";
    NoticeItem item;
    item.incident.id = 17;
    item.incident.root = "cluster:nb";
    item.incident.severity = judge::Severity::kCritical;
    item.incident.code = judge::Code::kRaftNoQuorum;
    item.incident.summary = "no quorum\r\nBcc: thief@example.org\n.\r\nPRIORITY=7";
    item.incident.opened = us.now();
    notice.items.push_back(std::move(item));
    options.server = "mail.example.org:587";
    options.from = "wardmote@example.org";
    options.to = {"ann@example.org", "bob@example.org"};
    options.user = "wardmote";
    options.password.text = "MAILSECRET";
  }
  DeliveryResult send(Channel& channel) {
    return run_task(world, us, channel.send(notice, us.deadline_in(5s)));
  }
  static std::string line_of(const std::string& text, const std::string& begin) {
    const std::size_t at = text.find("\n" + begin);
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\r', at) - at - 1);
  }

  World world{1};
  SimRuntime& us = world.host("us");
  FakeMail mail;
  MailOptions options;
  Notice notice;
};

TEST_F(Telling, AMailSaysWhatItIsInItsSubject) {
  MailChannel channel(us, mail, options, "ctl-1");
  ASSERT_TRUE(send(channel));
  const MailCall& call = mail.calls.at(0);
  EXPECT_EQ(call.to, options.to);
  EXPECT_EQ(call.helo, "ctl-1");
  EXPECT_TRUE(call.message.contains("Subject: CRITICAL cluster:nb RAFT_NO_QUORUM: no quorum"));
  EXPECT_TRUE(call.message.contains("notice oncall{root=3Dcluster:nb}#3")) << call.message;
  EXPECT_FALSE(call.message.contains("\nBcc:")) << "what is wrong is told by others";
  EXPECT_FALSE(call.message.contains("MAILSECRET"));
}

TEST_F(Telling, ARepeatedMailHasTheSameIdAndItsGroupIsAThread) {
  MailChannel channel(us, mail, options, "ctl-1");
  ASSERT_TRUE(send(channel));
  world.run_for(1h);
  ASSERT_TRUE(send(channel));
  notice.number = 4;
  ASSERT_TRUE(send(channel));
  const auto id = [&](std::size_t i) { return line_of(mail.calls[i].message, "Message-ID:"); };
  const auto thread = [&](std::size_t i) { return line_of(mail.calls[i].message, "References:"); };
  EXPECT_TRUE(id(0).ends_with("@example.org>")) << id(0);
  EXPECT_EQ(id(0), id(1));
  EXPECT_NE(id(0), id(2));
  EXPECT_EQ(thread(0), thread(2));
}

TEST_F(Telling, WhatAMailServerSaysDecidesWhetherItIsTriedAgain) {
  MailChannel channel(us, mail, options, "ctl-1");
  const std::pair<Errc, bool> for_ever[] = {{Errc::kRejected, true},
                                            {Errc::kDenied, false},
                                            {Errc::kTimeout, false},
                                            {Errc::kClosed, false}};
  for (const auto& [code, wanted] : for_ever) {
    mail.answer = fail(code, "mail by mail.example.org:587");
    const DeliveryResult result = send(channel);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().for_ever, wanted) << to_string(code);
    EXPECT_FALSE(result.error().reason.contains("MAILSECRET"));
  }
}

using List = std::vector<std::string>;

TEST_F(Telling, AnAddressThatDoesNotExistCostsTheOthersNothing) {
  MailChannel channel(us, mail, options, "ctl-1");
  mail.answer = MailReceipt{{{"bob@example.org", true, "550 no such user"}}};
  const DeliveryResult result = send(channel);
  ASSERT_TRUE(result) << result.error().reason;
  EXPECT_TRUE(result->complaint.contains("bob@example.org: 550 no such user")) << result->complaint;
}

TEST_F(Telling, OneRefusedForNowIsTriedAgainAlone) {
  options.to.emplace_back("carl@example.org");
  MailChannel three(us, mail, options, "ctl-1");
  mail.answer = MailReceipt{
      {{"bob@example.org", false, "450 greylisted"}, {"carl@example.org", true, "550 who?"}}};
  const DeliveryResult first = send(three);
  ASSERT_FALSE(first);
  EXPECT_FALSE(first.error().for_ever);
  EXPECT_TRUE(first.error().reason.contains("bob@example.org: 450 greylisted"));
  mail.answer = fail(Errc::kTimeout, "mail by mail.example.org:587");
  EXPECT_FALSE(send(three));
  mail.answer = MailReceipt{};
  const DeliveryResult second = send(three);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->complaint.contains("carl@example.org: 550 who?")) << second->complaint;
  EXPECT_EQ(mail.calls.at(0).to, (List{"ann@example.org", "bob@example.org", "carl@example.org"}));
  EXPECT_EQ(mail.calls.at(1).to, (List{"bob@example.org"}));
  EXPECT_EQ(mail.calls.at(2).to, (List{"bob@example.org"}));
  // Another notice is for everybody.
  notice.number = 4;
  ASSERT_TRUE(send(three));
  EXPECT_EQ(mail.calls.at(3).to.size(), 3U);
}

/// The end of the incident waits for the notice of its beginning.
TEST_F(Telling, AFullMailboxDoesNotHoldUpTheOthersForLong) {
  MailChannel channel(us, mail, options, "ctl-1");
  mail.answer = MailReceipt{{{"bob@example.org", false, "452 mailbox full"}}};
  EXPECT_FALSE(send(channel));
  world.run_for(MailChannel::kPatience - 1s);
  EXPECT_FALSE(send(channel));
  world.run_for(1s);
  const DeliveryResult last = send(channel);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->complaint.contains("452 mailbox full"));
}

TEST_F(Telling, AMailThatNobodyTookIsNotDelivered) {
  MailChannel channel(us, mail, options, "ctl-1");
  mail.answer =
      MailReceipt{{{"ann@example.org", false, "450 later"}, {"bob@example.org", true, "550 no"}}};
  EXPECT_FALSE(send(channel));
  world.run_for(1h);
  const DeliveryResult later = send(channel);
  ASSERT_FALSE(later);
  EXPECT_FALSE(later.error().for_ever);
  mail.answer = MailReceipt{{{"ann@example.org", true, "550 no"}}};
  const DeliveryResult never = send(channel);
  ASSERT_FALSE(never);
  EXPECT_TRUE(never.error().for_ever);
  EXPECT_TRUE(never.error().reason.contains("550 no")) << never.error().reason;
}

TEST_F(Telling, TheJournalGetsFieldsToSearchBy) {
  std::string entry;
  auto journal = std::make_unique<FakeJournal>(entry);
  FakeJournal* const fake = journal.get();
  JournalChannel channel(us, std::move(journal));
  ASSERT_TRUE(send(channel));
  for (const char* field : {"PRIORITY=2\n", "WARDMOTE_RECEIVER=oncall\n", "WARDMOTE_STATUS=open\n",
                            "WARDMOTE_INCIDENT=17\n", "WARDMOTE_ROOT=cluster:nb\n",
                            "WARDMOTE_CODE=RAFT_NO_QUORUM\n", "WARDMOTE_NOTICE={"}) {
    EXPECT_TRUE(entry.contains(field)) << entry;
  }
  EXPECT_FALSE(entry.contains("\nPRIORITY=7")) << "text of others begins no field";
  fake->answer = fail(Errc::kRefused, "journal");
  const DeliveryResult result = send(channel);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().for_ever) << "journald may be started again";
}

}  // namespace
}  // namespace wardmote::act::notify
