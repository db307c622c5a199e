// What an older copy of the store has of agents is not what they say.
#include "store/agent_words.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "store/agent_record.h"
#include "store/clock_pair.h"

namespace wardmote::store {
namespace {

using judge::incident::Symptom;
using Nodes = std::vector<std::string>;
using Stored = std::map<std::string, AgentWords::Stored>;

const ClockPair kClock{TimePoint(std::chrono::hours(10)), WallTime(std::chrono::hours(480'000))};

std::string record(const std::vector<std::string>& owners, std::optional<std::uint64_t> history) {
  AgentWord word{.symptoms = {}, .history = history};
  for (const std::string& owner : owners) {
    Symptom symptom;
    symptom.owner = symptom.component = owner;
    symptom.code = judge::Code::kCheckFailed;
    symptom.severity = judge::Severity::kCritical;
    word.symptoms.push_back(symptom);
  }
  return encode(word, kClock);
}

Nodes owners(const AgentWords& words, const std::string& node) {
  Nodes all;
  for (const Symptom& symptom : words.said(node)) all.push_back(symptom.owner);
  return all;
}

TEST(AgentWords, AreHeardOnceEachTimeTheyChange) {
  AgentWords words;
  Stored stored{{"a", {record({}, 0), true}}, {"b", {record({"check:x@b"}, 0), false}}};
  EXPECT_EQ(words.take(stored, kClock), (Nodes{"a", "b"})) << "also that nothing is wrong";
  EXPECT_EQ(words.take(stored, kClock), Nodes{});
  EXPECT_EQ(owners(words, "b"), Nodes{"check:x@b"});
  stored["b"].text = record({}, 0);
  EXPECT_EQ(words.take(stored, kClock), Nodes{"b"});
  EXPECT_EQ(owners(words, "b"), Nodes{});
  // What cannot be read, or is not there any more, is no good news.
  stored["a"].text = "x";
  stored.erase("b");
  EXPECT_EQ(words.take(stored, kClock), Nodes{});
  EXPECT_EQ(words.history(), 0U);
}

TEST(AgentWords, NobodySpeaksForTheChecksOfAnother) {
  AgentWords words;
  words.take({{"a", {record({"check:x@a", "check:x@b", "node:b", "guest:vm"}, 0), true}}}, kClock);
  EXPECT_EQ(owners(words, "a"), (Nodes{"check:x@a", "guest:vm"}));
}

TEST(AgentWords, NorForWhatTheChecksOfAnotherCarry) {
  AgentWords words;
  AgentWord word;
  Symptom one;
  one.owner = one.component = "check:x@a";
  one.code = judge::Code::kCheckFailed;
  one.severity = judge::Severity::kCritical;
  one.above = {"node:b", "check:y@b", "check:y@a", "cluster:nb"};
  Symptom lie = one;
  lie.owner = "guest:vm";
  lie.component = "check:x@b";
  word.symptoms = {one, lie};
  words.take({{"a", {encode(word, kClock), true}}}, kClock);
  ASSERT_EQ(words.said("a").size(), 1U);
  EXPECT_EQ(words.said("a")[0].above, (Nodes{"check:y@a", "cluster:nb"}));
}

TEST(AgentWords, OfAnOlderCopyAreDoubtedUntilTheirAgentWritesAgain) {
  for (const bool present : {false, true}) {  // its lease is in the copy, too
    AgentWords words;
    words.take({{"b", {record({"check:x@b"}, 0), true}}}, kClock);
    words.set_back();
    EXPECT_EQ(words.history(), 1U) << "it is said at once";
    Stored copy{{"b", {record({}, 0), present}}};
    EXPECT_EQ(words.take(copy, kClock), Nodes{});
    EXPECT_TRUE(words.is_doubted("b"));
    EXPECT_EQ(owners(words, "b"), Nodes{}) << "nor is what was heard before";
    copy["b"].text = record({"check:y@b"}, 1);
    EXPECT_EQ(words.take(copy, kClock), Nodes{"b"});
    EXPECT_FALSE(words.is_doubted("b"));
    EXPECT_EQ(owners(words, "b"), Nodes{"check:y@b"});
    EXPECT_EQ(words.history(), 1U);
  }
}

TEST(AgentWords, WhoBeginsLaterLearnsFromTheOthersWhatIsOlder) {
  AgentWords words;
  const Stored stored{{"a", {record({}, 3), true}}, {"b", {record({"check:x@b"}, 2), false}}};
  EXPECT_EQ(words.take(stored, kClock), Nodes{"a"});
  EXPECT_EQ(words.history(), 3U);
  EXPECT_TRUE(words.is_doubted("b"));
}

TEST(AgentWords, OfTwoWhoNoticeBothBeginTheSame) {
  AgentWords words;
  words.take({{"a", {record({}, 0), true}}}, kClock);
  words.set_back();
  EXPECT_EQ(words.take({{"a", {record({}, 1), true}}}, kClock), Nodes{"a"});
  EXPECT_EQ(words.history(), 1U);
}

TEST(AgentWords, WhoNoticesBeforeItHasReadAnythingBeginsTheNextAll) {
  AgentWords words;
  words.set_back();
  const Stored copy{{"a", {record({}, 5), true}}, {"b", {record({}, 4), false}}};
  EXPECT_EQ(words.take(copy, kClock), Nodes{});
  EXPECT_EQ(words.history(), 6U);
  EXPECT_EQ(words.take({{"a", {record({}, 6), true}}}, kClock), Nodes{"a"});
  EXPECT_EQ(words.history(), 6U) << "it is begun once";
}

// Of an earlier release, or damaged.
TEST(AgentWords, WhoCountsNoHistoryIsBelievedWhileItIsThere) {
  AgentWords words;
  words.set_back();
  Stored stored{{"a", {record({"check:x@a"}, std::nullopt), true}},
                {"b", {record({"check:x@b"}, std::nullopt), false}}};
  EXPECT_EQ(words.take(stored, kClock), Nodes{"a"});
  stored["b"].present = true;
  EXPECT_EQ(words.take(stored, kClock), Nodes{"b"});
}

}  // namespace
}  // namespace wardmote::store
