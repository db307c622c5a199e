#include "incidents/change_feed.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{1'767'225'600s};

class ChangeFeedTest : public ::testing::Test {
 protected:
  incidents::ChangeFeed feed_{[] { return kNow; }};
};

const judge::ThingId kReady{judge::ThingKind::kGate, "ready"};

TEST_F(ChangeFeedTest, NumbersChangesAndPutsTheSubjectBesideTheData) {
  std::vector<judge::Change> told;
  std::vector<serve::ChangeText> texts;
  feed_.listen([&](const judge::Change& change, const serve::ChangeText& text) {
    told.push_back(change);
    texts.push_back(text);
  });
  EXPECT_EQ(feed_.last(), 0U);
  feed_.tell(kReady, judge::GateChanged{false, {"a", "b"}});
  feed_.tell(kReady, judge::GateChanged{true, {}});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].sequence, 1U);
  EXPECT_EQ(told[0].at, kNow);
  EXPECT_EQ(told[0].of, kReady);
  EXPECT_EQ(texts[0].kind, "gate_closed");
  EXPECT_EQ(texts[0].data, R"({"failing":["a","b"]})") << "a list is more than its line in the log";
  EXPECT_EQ(told[1].sequence, 2U);
  EXPECT_EQ(texts[1].kind, "gate_opened");
  EXPECT_EQ(feed_.last(), 2U);
}

// A gate of optional checks alone opens while the agent is made; the first change after that ended
// the agent ("changes out of order").
TEST_F(ChangeFeedTest, WhatIsToldBeforeAnybodyListensComesFirst) {
  feed_.tell(kReady, judge::GateChanged{true, {}});
  std::vector<std::uint64_t> told;
  feed_.listen([&](const judge::Change& change, const serve::ChangeText&) {
    told.push_back(change.sequence);
  });
  feed_.tell({judge::ThingKind::kCheck, "a"}, judge::CheckChanged{});
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(ChangeFeedTest, WhatAListenerTellsComesAfterForEverybody) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  feed_.listen([&](const judge::Change&, const serve::ChangeText& text) {
    first.push_back(text.kind);
    if (text.kind == "gate_opened") {
      feed_.tell({judge::ThingKind::kAgent, "ctl-1"}, judge::AgentHealth{});
    }
  });
  feed_.listen(
      [&](const judge::Change&, const serve::ChangeText& text) { second.push_back(text.kind); });
  feed_.tell(kReady, judge::GateChanged{true, {}});
  const std::vector<std::string> both = {"gate_opened", "agent_recovered"};
  EXPECT_EQ(first, both);
  EXPECT_EQ(second, both);
}

}  // namespace
}  // namespace wardmote::agent
