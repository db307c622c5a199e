#include "judge/failover/member.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"

namespace wardmote::judge::failover {
namespace {

using Verdict = Candidacy::Verdict;

ContentHash at(std::uint64_t number) {
  return {number, ~number};
}

Trail trail(std::vector<std::uint64_t> numbers) {
  Trail made;
  for (const std::uint64_t number : numbers) made.push_back(at(number));
  return made;
}

/// A backup of epoch 3 that copies from nobody.
Member member(const std::string& name, std::vector<std::uint64_t> contents) {
  Member made;
  made.name = name;
  made.nb = made.sb = Copy::kIsolated;
  made.position.epoch = 3;
  made.position.size = 10;
  made.trail = trail(std::move(contents));
  return made;
}

/// n1 was active in epoch 3.
PairRecord record(std::vector<std::uint64_t> contents) {
  PairRecord made;
  made.epoch = made.claimed = 3;
  made.active = "n1";
  made.trail = trail(std::move(contents));
  return made;
}

const Choice kChoice{.members = {"n1", "n2", "n3"}};

Verdict judge(const Member& own, const std::vector<Member>& peers, const PairRecord& record,
              const Choice& choice = kChoice) {
  return judge_candidate(own, peers, record, choice).verdict;
}

TEST(Relation, TellsWhoWentOnFromTheOther) {
  EXPECT_EQ(relate(trail({1, 2}), trail({1, 2})), Relation::kSame);
  EXPECT_EQ(relate(trail({1, 2, 3}), trail({1, 2})), Relation::kAhead);
  EXPECT_EQ(relate(trail({1}), trail({1, 2})), Relation::kBehind);
  EXPECT_EQ(relate(trail({1, 2}), trail({1, 5})), Relation::kUnknown);
  EXPECT_EQ(relate(trail({1, 2}), trail({2, 1})), Relation::kUnknown);
  EXPECT_EQ(relate(trail({}), trail({1})), Relation::kUnknown);
}

TEST(CandidacyTest, ABackupThatHasAllThatWasPublishedMayBePromoted) {
  EXPECT_EQ(judge(member("n2", {4, 5, 6}), {}, record({4, 5})), Verdict::kGo);
  EXPECT_EQ(judge(member("n2", {4, 5}), {}, record({4, 5})), Verdict::kGo);
}

/// A member with these contents of its southbound database.
Member with_southbound(Member member, std::vector<std::uint64_t> contents) {
  member.sb_trail = trail(std::move(contents));
  return member;
}

TEST(CandidacyTest, OfTwoWithTheSameNorthboundRowsTheSouthboundOnesDecide) {
  Member n2 = with_southbound(member("n2", {4, 5}), {70});
  const Member n3 = with_southbound(member("n3", {4, 5}), {70, 71});
  n2.priority = 9;
  EXPECT_EQ(judge(n2, {n3}, record({4, 5})), Verdict::kRefuse);
  EXPECT_EQ(judge(n3, {n2}, record({4, 5})), Verdict::kGo);
  // More of the northbound database comes first: the rest is computed from it.
  EXPECT_EQ(judge(with_southbound(member("n2", {4, 5, 6}), {70}), {n3}, record({4, 5})),
            Verdict::kGo);
  EXPECT_EQ(judge(with_southbound(member("n2", {4, 5}), {72}), {n3}, record({4, 5})), Verdict::kGo)
      << "nothing relates the two";
  EXPECT_EQ(judge(member("n2", {4, 5}), {n3}, record({4, 5})), Verdict::kGo) << "nor these";
}

TEST(CandidacyTest, WhoLacksSouthboundRowsOfTheOneThatGaveUpIsRefused) {
  PairRecord gave_up = record({4, 5});
  gave_up.sb_trail = trail({70, 71});
  const Member behind = with_southbound(member("n2", {4, 5}), {70});
  EXPECT_EQ(judge(behind, {}, gave_up), Verdict::kGo) << "it crashed: that is not asked for";
  gave_up.released = true;
  gave_up.heir = "n2";
  EXPECT_EQ(judge(behind, {}, gave_up), Verdict::kRefuse);
  EXPECT_EQ(judge(with_southbound(behind, {70, 71}), {}, gave_up), Verdict::kGo);
  EXPECT_EQ(judge(member("n2", {4, 5}), {}, gave_up), Verdict::kGo) << "it is too large to know";
}

TEST(CandidacyTest, ABackupBehindWhatWasPublishedIsRefused) {
  EXPECT_EQ(judge(member("n2", {3, 4}), {}, record({4, 5})), Verdict::kRefuse);
  // Nothing relates it: it was started after the active node died.
  EXPECT_EQ(judge(member("n2", {9}), {}, record({4, 5})), Verdict::kRefuse);
}

TEST(CandidacyTest, CommitsThatCameTogetherDoNotKeepABackupFromBeingPromoted) {
  EXPECT_EQ(judge(member("n2", {4, 6}), {}, record({4, 5})), Verdict::kGo);
  // Of what came together there it has a part only, if there are signs that it has less.
  PairRecord published = record({4, 5});
  published.published.size = member("n2", {}).position.size;
  EXPECT_EQ(judge(member("n2", {4, 6}), {}, published), Verdict::kGo);
  ++published.published.size;
  EXPECT_EQ(judge(member("n2", {4, 6}), {}, published), Verdict::kRefuse);
  EXPECT_EQ(judge(member("n2", {4, 5}), {}, published), Verdict::kGo) << "that is the same";
  published.published = {};
  published.published.counter = 1;
  EXPECT_EQ(judge(member("n2", {4, 6}), {}, published), Verdict::kRefuse);
}

TEST(CandidacyTest, WhoWasActiveInTheEpochHasAllOfIt) {
  EXPECT_EQ(judge(member("n1", {9}), {member("n2", {4, 5})}, record({4, 5})), Verdict::kGo);
}

TEST(CandidacyTest, ANewerCopyThatIsThereComesFirst) {
  EXPECT_EQ(judge(member("n2", {4, 5}), {member("n3", {4, 5, 6})}, record({4, 5})),
            Verdict::kRefuse);
  EXPECT_EQ(judge(member("n3", {4, 5, 6}), {member("n2", {4, 5})}, record({4, 5})), Verdict::kGo);
}

TEST(CandidacyTest, ANewerCopyThatMustNotBePromotedIsNotPassedOver) {
  Member full = member("n3", {4, 5, 6});
  full.unfit = "its disk is full";
  EXPECT_EQ(judge(member("n2", {4, 5}), {full}, record({4, 5})), Verdict::kRefuse);
  full.distrusted = true;
  EXPECT_EQ(judge(member("n2", {4, 5}), {full}, record({4, 5})), Verdict::kGo);
}

TEST(CandidacyTest, OfTwoThatHaveTheSameOneGoes) {
  Member n2 = member("n2", {5});
  Member n3 = member("n3", {5});
  EXPECT_EQ(judge(n2, {n3}, record({5})), Verdict::kGo);
  EXPECT_EQ(judge(n3, {n2}, record({5})), Verdict::kWait);
  n3.priority = 1;
  EXPECT_EQ(judge(n2, {n3}, record({5})), Verdict::kWait);
  EXPECT_EQ(judge(n3, {n2}, record({5})), Verdict::kGo);
}

TEST(CandidacyTest, APromotionThatHasBegunEndsForWhatAnotherHasNotForWhoIsPreferred) {
  const Choice begun{.members = kChoice.members, .begun = true};
  Member n2 = member("n2", {5});
  Member n3 = member("n3", {5});
  EXPECT_EQ(judge(n3, {n2}, record({5}), begun), Verdict::kGo) << "its name comes later";
  n2.priority = 1;
  EXPECT_EQ(judge(n3, {n2}, record({5}), begun), Verdict::kGo);
  PairRecord released = record({5});
  released.released = true;
  released.heir = "n2";
  EXPECT_EQ(judge(n3, {n2}, released), Verdict::kWait);
  EXPECT_EQ(judge(n3, {n2}, released, begun), Verdict::kGo);

  EXPECT_EQ(judge(n3, {member("n2", {5, 6})}, record({5}), begun), Verdict::kRefuse);
  // Who was active may have what it did not publish.
  EXPECT_EQ(judge(n3, {member("n1", {70})}, record({5}), begun), Verdict::kWait);
  n2 = member("n2", {4, 70});
  n3 = member("n3", {4, 5});
  n2.position.counter = 1;
  EXPECT_EQ(judge(n3, {n2}, record({4}), begun), Verdict::kWait);
}

TEST(CandidacyTest, BeforeTheFirstPromotionToo) {
  const Choice begun{.members = {"n1", "n2"}, .begun = true};
  const PairRecord nobody;
  Member n1 = member("n1", {5});
  Member n2 = member("n2", {5});
  n1.position.epoch = n2.position.epoch = 0;
  Choice before = begun;
  before.begun = false;
  EXPECT_EQ(judge(n2, {n1}, nobody, before), Verdict::kWait);
  EXPECT_EQ(judge(n2, {n1}, nobody, begun), Verdict::kGo);
  n1.trail = trail({5, 6});
  EXPECT_EQ(judge(n2, {n1}, nobody, begun), Verdict::kRefuse);
}

TEST(CandidacyTest, ACopyThatCannotBeComparedAndShowsMoreRowsIsNotPassedOver) {
  Member n3 = member("n3", {70});
  n3.position.size = 11;
  EXPECT_EQ(judge(member("n2", {4, 5, 6}), {n3}, record({4, 5})), Verdict::kRefuse);
  n3.position.size = 10;
  EXPECT_EQ(judge(member("n2", {4, 5, 6}), {n3}, record({4, 5})), Verdict::kGo);
}

TEST(CandidacyTest, NobodyGoesWhileAnotherStillCopies) {
  Member n3 = member("n3", {5});
  n3.nb = Copy::kFollowing;
  EXPECT_EQ(judge(member("n2", {5}), {n3}, record({5})), Verdict::kWait);
}

TEST(CandidacyTest, AnOlderEmptyHalfOrTaggedCopyIsRefused) {
  Member own = member("n2", {5});
  own.position.epoch = 2;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
  own = member("n2", {5});
  own.position.empty = true;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
  own = member("n2", {5});
  own.position.sync = SyncState::kHalf;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
  own = member("n2", {5});
  own.nofailover = true;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
  own = member("n2", {5});
  own.observes = true;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
}

TEST(CandidacyTest, AnEpochThatNobodyHeardOfCountsAsTheOneBefore) {
  PairRecord claimed = record({5});
  claimed.claimed = 4;
  Member own = member("n2", {5});
  own.position.epoch = 4;
  EXPECT_EQ(judge(own, {member("n3", {5})}, claimed), Verdict::kGo);
}

TEST(CandidacyTest, AStoreThatKnowsLessThanTheCopyIsAnOlderStore) {
  Member own = member("n2", {5});
  own.position.epoch = 7;
  EXPECT_EQ(judge(own, {}, record({5})), Verdict::kRefuse);
}

TEST(CandidacyTest, AnOperatorMayForceAllButAnEmptyCopy) {
  const Choice forced{.members = kChoice.members, .forced = true};
  Member own = member("n2", {9});
  own.position.epoch = 2;
  EXPECT_EQ(judge(own, {}, record({4, 5}), forced), Verdict::kGo);
  own.position.empty = true;
  EXPECT_EQ(judge(own, {}, record({4, 5}), forced), Verdict::kRefuse);
}

TEST(CandidacyTest, TheHeirGoesFirst) {
  PairRecord released = record({5});
  released.released = true;
  released.heir = "n3";
  const Member n1 = member("n1", {5});
  const Member n2 = member("n2", {5});
  const Member n3 = member("n3", {5});
  EXPECT_EQ(judge(n3, {n1, n2}, released), Verdict::kGo);
  EXPECT_EQ(judge(n2, {n1, n3}, released), Verdict::kWait);
  EXPECT_EQ(judge(n1, {n2, n3}, released), Verdict::kWait);
  // Without the heir the others go on.
  EXPECT_EQ(judge(n1, {n2}, released), Verdict::kGo);
  // And so they do with one whose server is down or hangs.
  for (const Copy copy : {Copy::kHung, Copy::kDown}) {
    Member hangs = n3;
    hangs.nb = copy;
    EXPECT_EQ(judge(n1, {n2, hangs}, released), Verdict::kGo);
  }
}

// An agent was killed while it promoted its copies, and refused them afterwards: the others waited
// for it for ever.
TEST(CandidacyTest, NobodyWaitsForAnHeirThatRefusesItself) {
  PairRecord released = record({5});
  released.released = true;
  released.heir = "n3";
  const Member n1 = member("n1", {5});
  const Member n2 = member("n2", {5});
  for (const std::uint64_t content : {4U, 9U}) {
    const Member n3 = member("n3", {content});
    EXPECT_EQ(judge(n3, {n1, n2}, released), Verdict::kRefuse) << content;
    EXPECT_EQ(judge(n1, {n2, n3}, released), Verdict::kGo) << content;
  }
  // Whose content nobody can read refuses itself as well.
  Member n3 = member("n3", {5});
  n3.trail = {};
  EXPECT_EQ(judge(n3, {n1, n2}, released), Verdict::kRefuse);
  EXPECT_EQ(judge(n1, {n2, n3}, released), Verdict::kGo);
  n3 = member("n3", {5});
  n3.position.epoch = 2;
  EXPECT_EQ(judge(n3, {n1, n2}, released), Verdict::kRefuse);
  EXPECT_EQ(judge(n1, {n2, n3}, released), Verdict::kGo);
}

TEST(FirstPromotion, WaitsForAllMembers) {
  Member own = member("n1", {1});
  own.position.epoch = 0;
  Member n2 = own;
  n2.name = "n2";
  EXPECT_EQ(judge(own, {n2}, {}), Verdict::kWait);
  Member n3 = own;
  n3.name = "n3";
  EXPECT_EQ(judge(own, {n2, n3}, {}), Verdict::kGo);
  EXPECT_EQ(judge(n2, {own, n3}, {}), Verdict::kWait);
}

TEST(FirstPromotion, TheOnlyCopyWithRowsCounts) {
  Member own = member("n2", {1});
  own.position.epoch = 0;
  Member n1 = own;
  n1.name = "n1";
  n1.position.empty = true;
  n1.trail = trail({0});
  Member n3 = n1;
  n3.name = "n3";
  EXPECT_EQ(judge(own, {n1, n3}, {}), Verdict::kGo);
  EXPECT_EQ(judge(n1, {own, n3}, {}), Verdict::kRefuse);
}

TEST(FirstPromotion, OfTwoThatDifferTheOneThatWasWritableCounts) {
  Member own = member("n2", {1});
  own.position.epoch = 0;
  Member n1 = own;
  n1.name = "n1";
  n1.trail = trail({7});
  Member n3 = own;
  n3.name = "n3";
  EXPECT_EQ(judge(own, {n1, n3}, {}), Verdict::kRefuse);
  own.position.sync = SyncState::kWasActive;
  EXPECT_EQ(judge(own, {n1, n3}, {}), Verdict::kGo);
  EXPECT_EQ(judge(n1, {own, n3}, {}), Verdict::kRefuse);
}

}  // namespace
}  // namespace wardmote::judge::failover
