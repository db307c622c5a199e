#include "store/seen_revision.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wardmote::store {
namespace {

class SeenRevisionTest : public ::testing::Test {
 protected:
  SeenRevisionTest() {
    seen.when_set_back(
        [this](const std::string& what) { told.push_back(what.substr(0, what.find(":"))); });
  }
  using Told = std::vector<std::string>;
  SeenRevision seen;
  Told told;
};

TEST_F(SeenRevisionTest, AnAnswerMayBeAsOldAsItsQuestion) {
  const auto early = seen.mark();
  seen.answered(early, 9, false);
  seen.answered(early, 7, false);
  EXPECT_EQ(told, Told()) << "it was on its way for long";
  EXPECT_EQ(seen.mark().revision, 9);
}

TEST_F(SeenRevisionTest, WhatOthersShowCountsForTheNextQuestion) {
  seen.see(9);
  seen.see(4);
  seen.answered(seen.mark(), 8, false);
  EXPECT_EQ(told, (Told{"the store was at revision 9, and what it says is of 8"}));
  EXPECT_EQ(seen.mark().revision, 8) << "the new history counts from there";
}

TEST_F(SeenRevisionTest, AChangeMakesANewRevision) {
  seen.see(9);
  seen.answered(seen.mark(), 9, false);
  seen.answered(seen.mark(), 10, true);
  EXPECT_EQ(told, Told());
  seen.answered(seen.mark(), 10, true);
  EXPECT_EQ(told, (Told{"the store was at revision 10, and what it says is of 10"}));
}

TEST_F(SeenRevisionTest, QuestionsOfBeforeTellNothingAboutTheNewHistory) {
  seen.see(9);
  const auto before = seen.mark();
  seen.answered(before, 5, false);
  seen.answered(before, 6, false);
  EXPECT_EQ(told, (Told{"the store was at revision 9, and what it says is of 5"}));
  EXPECT_EQ(seen.mark().revision, 5) << "it may be the old one that answers";
}

TEST_F(SeenRevisionTest, ABeatNeverFallsInOneHistory) {
  seen.see(9);
  const auto early = seen.mark();
  seen.answered_beat(seen.mark(), 5);
  seen.answered_beat(early, 4);
  EXPECT_EQ(told, Told()) << "it was on its way for long";
  EXPECT_EQ(seen.mark().beat, 5U);
  // As after `etcdutl snapshot restore --bump-revision`.
  const auto before = seen.mark();
  seen.answered(seen.mark(), 1'000'000'009, false);
  seen.answered_beat(seen.mark(), 3);
  EXPECT_EQ(told, (Told{"the agent that leads had counted to 5, and the store knows 3"}));
  seen.answered_beat(before, 3);
  seen.answered_beat(seen.mark(), 3);
  seen.answered_beat(seen.mark(), 4);
  EXPECT_EQ(told.size(), 1U) << "once";
  EXPECT_EQ(seen.highest_beat(), 5U);
}

TEST_F(SeenRevisionTest, AStoreThatWasSetBackCountsFromWhatItHas) {
  seen.see(9);
  seen.answered_beat(seen.mark(), 5);
  const auto before = seen.mark();
  seen.answered(seen.mark(), 7, false);
  seen.answered_beat(before, 2);
  seen.answered_beat(seen.mark(), 2);
  EXPECT_EQ(told.size(), 1U) << "the revision has said it";
}

// It came back empty, somebody led, and then a backup was put in.
TEST_F(SeenRevisionTest, ABeatThatLeapsAndStaysBelowWhatWasKnownIsOfAnotherCopy) {
  seen.see(9);
  seen.answered_beat(seen.mark(), 6);
  seen.answered(seen.mark(), 1, false);
  seen.answered_beat(seen.mark(), 0);
  EXPECT_EQ(told.size(), 1U);
  seen.answered_beat(seen.mark(), 3);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told.back(), "the agent that leads had counted to 6, and the store knows 3");
}

TEST_F(SeenRevisionTest, WhoLeadsAnewRaisesTheBeatOneByOneOrBeyondAll) {
  seen.see(9);
  seen.answered_beat(seen.mark(), 6);
  seen.answered(seen.mark(), 1, false);
  for (const std::uint64_t beat : {0U, 1U, 3U, 4U, 16U, 17U}) seen.answered_beat(seen.mark(), beat);
  EXPECT_EQ(told.size(), 1U);
}

}  // namespace
}  // namespace wardmote::store
