#include "agent/change_feed.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{1'767'225'600s};

class ChangeFeedTest : public testing::Test {
 protected:
  ChangeFeed feed_{[] { return kNow; }};
};

TEST_F(ChangeFeedTest, NumbersChangesAndPutsTheSubjectBesideTheData) {
  std::vector<judge::Change> told;
  feed_.listen([&](const judge::Change& change) { told.push_back(change); });
  EXPECT_EQ(feed_.last(), 0U);
  feed_.tell(LogLevel::kInfo, "gate_closed", {{"gate", "ready"}, {"failing", "a b"}},
             {{"failing", {"a", "b"}}});
  feed_.tell(LogLevel::kInfo, "gate_opened", {{"gate", "ready"}});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].sequence, 1U);
  EXPECT_EQ(told[0].at, kNow);
  EXPECT_EQ(told[0].kind, "gate_closed");
  EXPECT_EQ(told[0].scope, "gate");
  EXPECT_EQ(told[0].subject, "ready");
  EXPECT_EQ(told[0].data, R"({"failing":["a","b"]})") << "a list is more than its line in the log";
  EXPECT_EQ(told[0].finding, std::nullopt);
  EXPECT_EQ(told[1].sequence, 2U);
  EXPECT_EQ(told[1].data, "{}");
  EXPECT_EQ(feed_.last(), 2U);
}

TEST_F(ChangeFeedTest, EscapesWhatCameFromOutside) {
  std::string data;
  feed_.listen([&](const judge::Change& change) { data = change.data; });
  feed_.tell(LogLevel::kInfo, "check_changed", {{"check", "c"}, {"detail", "\x1b[31mred"}});
  EXPECT_EQ(data, R"({"detail":"\\x1b[31mred"})");
}

TEST_F(ChangeFeedTest, WhatAListenerTellsComesAfterForEverybody) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  feed_.listen([&](const judge::Change& change) {
    first.push_back(change.kind);
    if (change.kind == "finding_raised") {
      feed_.tell(LogLevel::kInfo, "incident_opened", {{"incident", "1"}});
    }
  });
  feed_.listen([&](const judge::Change& change) { second.push_back(change.kind); });
  feed_.tell(LogLevel::kInfo, "finding_raised", {{"cluster", "nb"}});
  const std::vector<std::string> both = {"finding_raised", "incident_opened"};
  EXPECT_EQ(first, both);
  EXPECT_EQ(second, both);
}

}  // namespace
}  // namespace wardmote::agent
