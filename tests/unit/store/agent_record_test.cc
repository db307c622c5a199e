#include "store/agent_record.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/raft/member_id.h"
#include "judge/raft/sighting.h"

namespace wardmote::store {
namespace {

using judge::incident::Symptom;
using namespace std::chrono_literals;

constexpr ClockPair kClock{TimePoint(10h), WallTime(480'000h + 500us)};

Symptom sample_symptom() {
  Symptom symptom;
  symptom.owner = "check:bird@ctl-1";
  symptom.component = "host:ctl-1";
  symptom.code = judge::Code::kCheckFailed;
  symptom.severity = judge::Severity::kCritical;
  symptom.optional = true;
  symptom.names = {"bird"};
  symptom.summary = "bird fails: refused";
  symptom.kind = "bird";
  symptom.above = {"cluster:nb"};
  symptom.since = kClock.now - 5min;
  return symptom;
}

TEST(AgentRecord, KeysAreBelowTheNode) {
  EXPECT_EQ(presence_key("ctl-1"), "agents/ctl-1/presence");
  const std::string text = symptoms_key("ctl-1");
  const auto key = parse_agent_key(text);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->node, "ctl-1");
  EXPECT_EQ(key->kind, AgentRecordKind::kSymptoms);
  for (const char* const strange :
       {"agents/", "agents//presence", "agents/ctl-1", "agents/ctl-1/later", "incident/1", ""})
    EXPECT_FALSE(parse_agent_key(strange)) << strange;
}

TEST(AgentRecord, ARegistrationComesBack) {
  const AgentRegistration written{"ctl-1", {{"rack", "r1"}}, "0.1.0", "b00t", WallTime(479'999h)};
  const auto read = decode_registration(encode(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node + read->release + read->boot, "ctl-10.1.0b00t");
  EXPECT_EQ(read->labels, written.labels);
  EXPECT_EQ(read->since, written.since);
}

TEST(AgentRecord, ServersComeBack) {
  using judge::raft::parse_member_id;
  using judge::raft::Sighting;
  const auto server = *parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  const auto cluster = *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174");
  std::vector<Sighting> seen = {
      {server, cluster, "check local", kClock.now, true, "X"},
      {cluster, {}, "check other", kClock.now, false, "", false, "tcp:10.0.0.1:6643"},
      {{}, {}, "check third", {}, false, "X"},
      {{}, {}, "check fourth", {}, false},
      {*parse_member_id("1430"), cluster, "", {}, false, "", true},
      {server, cluster, "check fifth", {}, false, "", false, "", true}};
  seen[0].late = 90s;
  auto read = decode_servers(encode_servers(seen), "the agent on ctl-2", kClock.now + 1s);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::exchange(read->at(0).late, std::nullopt), 90s);
  EXPECT_EQ(
      *read,
      (std::vector<Sighting>{
          {server, cluster, "the agent on ctl-2", kClock.now + 1s, true, "X"},
          {cluster,
           {},
           "the agent on ctl-2",
           kClock.now + 1s,
           false,
           "",
           false,
           "tcp:10.0.0.1:6643"},
          {{}, {}, "the agent on ctl-2", kClock.now + 1s, false, "X"},
          {{}, {}, "the agent on ctl-2", kClock.now + 1s, false},
          {*parse_member_id("1430"), cluster, "the agent on ctl-2", kClock.now + 1s, false, "",
           true},
          {server, cluster, "the agent on ctl-2", kClock.now + 1s, false, "", false, "", true}}));
  const auto old = decode_servers(
      R"({"servers":[{"server":"14302e3d-dac6-4762-a00e-834c7c7479df","cluster":""}]})", "", {});
  ASSERT_EQ(old->size(), 1U);
  EXPECT_TRUE(old->front().still) << "an agent that told of these only";
  EXPECT_TRUE(decode_servers(R"({"servers":[7,{},{"server":"1430"}]})", "", {})->empty())
      << "four digits may be another's";
  for (const char* const bad : {"", "[]", "{}", R"({"servers":7})"})
    EXPECT_FALSE(decode_servers(bad, "", {})) << bad;
  EXPECT_EQ(note_key("ctl-1", "servers"), "agents/ctl-1/servers");
}

TEST(AgentRecord, SymptomsComeBack) {
  const std::vector<Symptom> written = {sample_symptom()};
  const auto read = decode_word(encode(AgentWord{.symptoms = written,
                                                 .checks = {{"file", 40}},
                                                 .watches = {{"cluster:nb"}},
                                                 .history = 7},
                                       kClock),
                                kClock);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->symptoms, written);
  EXPECT_EQ(read->history, 7U);
  EXPECT_EQ(read->watches, (std::set<std::string>{"cluster:nb"}));
  EXPECT_EQ(read->checks, (std::map<std::string, std::size_t>{{"file", 40}}));
  const auto nothing = decode_word(encode(AgentWord(), kClock), kClock);
  EXPECT_TRUE(nothing->symptoms.empty());
  EXPECT_FALSE(nothing->history);
  EXPECT_FALSE(nothing->watches);
}

// Releases N and N-1 work together.
TEST(AgentRecord, OfAnotherReleaseWhatIsKnownIsRead) {
  const auto registration =
      decode_registration(R"({"node":"n","release":"9.9","roles":["x"],"labels":{"a":1}})");
  ASSERT_TRUE(registration);
  EXPECT_EQ(registration->release, "9.9");
  EXPECT_TRUE(registration->labels.empty());
  std::string text = encode(AgentWord{.symptoms = {sample_symptom()}}, kClock);
  text.insert(text.find('[') + 1,
              R"({"owner":"check:x@n","code":"OF_LATER","severity":"critical","since":1},7,)");
  text.insert(1, R"("more":{},)");
  const auto symptoms = decode_word(text, kClock);
  ASSERT_TRUE(symptoms) << text;
  EXPECT_EQ(symptoms->symptoms, std::vector{sample_symptom()});
}

TEST(AgentRecord, ASymptomThatLacksWhatMakesItOneIsLeftOut) {
  const std::string whole = encode(AgentWord{.symptoms = {sample_symptom()}}, kClock);
  for (const std::string_view key : {"code", "severity", "owner"}) {
    std::string text = whole;
    text.replace(text.find(fmt::format("\"{}\"", key)) + 1, 1, "_");
    const auto read = decode_word(text, kClock);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->symptoms.empty()) << key;
  }
}

// Milliseconds that nanoseconds cannot hold came from a fuzzer.
TEST(AgentRecord, ASymptomStaysWithoutATimeThatMakesSense) {
  for (const char* const since : {R"("since":14672293872441)", R"("since":-9223372036854775808)",
                                  R"("since":9223372036854775807)", R"("since":"x")", R"("x":1)"}) {
    const auto read =
        decode_word(fmt::format(R"({{"symptoms":[{{"owner":"check:x@n","code":"CHECK_FAILED",)"
                                R"("severity":"critical",{}}}]}})",
                                since),
                    kClock);
    ASSERT_TRUE(read && read->symptoms.size() == 1) << since;
    EXPECT_EQ(read->symptoms.front().since, kClock.now) << since;
  }
}

TEST(AgentRecord, WhatIsNoRecordIsNoGoodNews) {
  for (const char* const text : {"", "x", "[]", "{}", R"({"symptoms":7})"})
    EXPECT_EQ(decode_word(text, kClock).error().code, Errc::kProtocol) << text;
  EXPECT_EQ(decode_registration("[]").error().code, Errc::kProtocol);
}

TEST(AgentRecord, TextOfOthersIsSafeToPrintAndBounded) {
  Symptom symptom = sample_symptom();
  symptom.summary = "\x1b[2J" + std::string(10'000, 'x');
  const auto read = decode_word(encode(AgentWord{.symptoms = {symptom}}, kClock), kClock);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->symptoms.front().summary.contains('\x1b'));
  EXPECT_LT(read->symptoms.front().summary.size(), 2000U);
  const std::vector<Symptom> many(10'000, sample_symptom());
  EXPECT_LE(decode_word(encode(AgentWord{.symptoms = many}, kClock), kClock)->symptoms.size(),
            500U);
}

}  // namespace
}  // namespace wardmote::store
