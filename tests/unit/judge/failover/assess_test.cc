#include "judge/failover/assess.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/failover/decision.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/verdict.h"

namespace wardmote::judge::failover {
namespace {

using namespace std::chrono_literals;

Member member(const std::string& name, Copy copy) {
  Member made;
  made.name = name;
  made.nb = made.sb = copy;
  made.position.epoch = 1;
  made.trail = {{1, 1}};
  return made;
}

/// As n2 sees it: n1 is active, and the others follow.
PairReport healthy() {
  PairReport made;
  made.name = "ovn";
  made.node = "n2";
  made.acts = true;
  made.ttl = 6s;
  made.address = "10.0.0.100/24 on eth0";
  made.lock = Lock::kOther;
  made.active = "n1";
  made.own = member("n2", Copy::kFollowing);
  made.members = {member("n1", Copy::kActive), member("n3", Copy::kFollowing)};
  made.record = {.epoch = 1, .claimed = 1, .active = "n1", .trail = {{1, 1}}};
  return made;
}

PairReport without_active() {
  PairReport made = healthy();
  made.lock = Lock::kNone;
  made.active.clear();
  made.own = member("n2", Copy::kIsolated);
  made.members = {member("n3", Copy::kIsolated)};
  made.missing = {"n1"};
  return made;
}

class AssessPair : public ::testing::Test {
 protected:
  /// Looks every half a second for `time`; the last answer.
  Assessment look(const PairReport& report, Duration time) {
    Assessment last;
    for (const TimePoint end = now_ + time; now_ <= end; now_ += 500ms)
      last = assess(report, conditions_, now_);
    return last;
  }
  static std::vector<Code> codes(const Assessment& assessment) {
    std::vector<Code> found;
    for (const Finding& finding : assessment.findings) found.push_back(finding.code);
    return found;
  }
  static const Finding& only(const Assessment& assessment) {
    EXPECT_EQ(assessment.findings.size(), 1U);
    return assessment.findings.front();
  }

  TimePoint now_ = TimePoint(100s);
  ConditionTracker conditions_;
};

using Codes = std::vector<Code>;

TEST_F(AssessPair, WhereOneIsActiveAndTheOthersFollowNothingIsWrong) {
  const Assessment seen = look(healthy(), 1min);
  EXPECT_EQ(seen.verdict, Verdict::kOk);
  EXPECT_TRUE(seen.findings.empty() && seen.observed.empty());
}

TEST_F(AssessPair, WhatAFindingAdvisedIsNotAdvisedOnceNobodyCanSeeIt) {
  PairReport report = healthy();
  report.paused_by = "ann";
  const Assessment known = look(report, 5s);
  const std::vector<std::string> resume = {"wardmote", "failover", "resume", "ovn"};
  EXPECT_EQ(only(known).advice->command, resume);
  report.lock = Lock::kUnknown;
  const Assessment unseen = look(report, 5s);
  EXPECT_FALSE(only(unseen).confirmed);
  EXPECT_TRUE(only(unseen).advice->command.empty());
  EXPECT_NE(only(unseen).advice->text.find("look again"), std::string::npos);
}

TEST_F(AssessPair, NobodyActiveIsCriticalOnceAFailoverShouldBeOver) {
  Assessment seen = look(without_active(), 11s);
  EXPECT_EQ(codes(seen), Codes{});
  EXPECT_EQ(seen.observed.front().code, Code::kFailoverNoActive);
  EXPECT_EQ(seen.verdict, Verdict::kOk) << "a failover that goes well is no alarm";
  seen = look(without_active(), 5s);
  EXPECT_EQ(codes(seen), (Codes{Code::kFailoverNoActive, Code::kFailoverMemberMissing}));
  EXPECT_EQ(seen.verdict, Verdict::kCritical);
  const Finding& finding = seen.findings.front();
  EXPECT_EQ(finding.summary, "nobody is active");
  ASSERT_EQ(finding.evidence.size(), 3U);
  EXPECT_EQ(finding.evidence[0].by, "n2");
  EXPECT_EQ(finding.evidence[1].says.substr(0, 48),
            "nb isolated, sb isolated; could become active: w");
  EXPECT_EQ(finding.evidence[2].says, "its agent says nothing");
  EXPECT_EQ(codes(look(healthy(), 0s)), Codes{});
}

TEST_F(AssessPair, ALongLeaseMakesAllOfItWaitLonger) {
  PairReport report = without_active();
  report.ttl = 1min;
  EXPECT_EQ(codes(look(report, 119s)), Codes{});
  EXPECT_EQ(codes(look(report, 2s)),
            (Codes{Code::kFailoverNoActive, Code::kFailoverMemberMissing}));
}

TEST_F(AssessPair, APauseIsSaidAndExplainsAnOutage) {
  PairReport report = healthy();
  report.paused_by = "ops";
  const Assessment seen = look(report, 0s);
  EXPECT_EQ(seen.verdict, Verdict::kOk) << "an information";
  EXPECT_EQ(only(seen).summary, "failover is paused by ops");
  EXPECT_EQ(only(seen).advice->command,
            (std::vector<std::string>{"wardmote", "failover", "resume", "ovn"}));
  report = without_active();
  report.paused_by = "ops";
  EXPECT_EQ(look(report, 13s).findings.front().summary,
            "nobody is active, and failover is paused by ops");
}

TEST_F(AssessPair, WhoGivesUpDoesNotKnowWhoComesNext) {
  PairReport report = without_active();
  report.lock = Lock::kReleased;
  report.missing.clear();
  EXPECT_EQ(codes(look(report, 1min)), Codes{}) << "it begins nothing";
  report.lock = Lock::kNone;
  look(report, 13s);
  report.lock = Lock::kReleased;
  EXPECT_EQ(codes(look(report, 1min)), Codes{Code::kFailoverNoActive}) << "and ends nothing";
}

TEST_F(AssessPair, WithoutTheStoreNothingIsKnownAndNothingIsOver) {
  PairReport report = without_active();
  report.lock = Lock::kUnknown;
  Assessment seen = look(report, 1min);
  EXPECT_EQ(seen.verdict, Verdict::kUnknown);
  EXPECT_EQ(codes(seen), Codes{});
  look(without_active(), 20s);
  seen = look(report, 1min);
  EXPECT_EQ(seen.verdict, Verdict::kCritical);
  EXPECT_TRUE(seen.findings.front().summary.ends_with(kUnconfirmed));
}

TEST_F(AssessPair, TwoWritableCopiesAreCriticalAlsoWhereNobodyLeads) {
  PairReport report = healthy();
  report.members[1].sb = Copy::kActive;
  Assessment seen = look(report, 11s);
  EXPECT_EQ(codes(seen), Codes{}) << "the record of a node that was active stays for its lease";
  seen = look(report, 5s);
  EXPECT_EQ(seen.findings.front().code, Code::kFailoverTwoActive);
  EXPECT_EQ(seen.findings.front().subjects, (std::vector<std::string>{"n1", "n3"}));
  EXPECT_EQ(seen.findings.front().summary,
            "n1 and n3 have a writable database, n1 is the active node");
  report = without_active();
  report.own = member("n2", Copy::kActive);
  report.members[0] = member("n3", Copy::kActive);
  seen = look(report, 20s);
  EXPECT_NE(std::ranges::count(codes(seen), Code::kFailoverTwoActive), 0);
}

TEST_F(AssessPair, AnActiveNodeWithoutItsAddressSaysSo) {
  PairReport report = healthy();
  report.lock = Lock::kMine;
  report.active = report.own.name;
  report.own = member("n2", Copy::kActive);
  report.members = {member("n1", Copy::kFollowing), member("n3", Copy::kFollowing)};
  report.complaints = {"no such device"};
  EXPECT_EQ(codes(look(report, 4s)), Codes{});
  const Assessment seen = look(report, 2s);
  EXPECT_EQ(only(seen).code, Code::kFailoverAddressMissing);
  EXPECT_EQ(only(seen).summary, "n2 is active without the address 10.0.0.100/24 on eth0");
  EXPECT_EQ(only(seen).evidence, (std::vector<Evidence>{{"n2", "no such device"}}));
  report.has_address = true;
  EXPECT_EQ(codes(look(report, 1min)), Codes{});
  PairReport elsewhere = healthy();
  EXPECT_EQ(codes(look(elsewhere, 1min)), Codes{}) << "of another node's address it knows nothing";
}

TEST_F(AssessPair, WhoDoesNotFollowIsNamedAndStillAnotherCouldTakeOver) {
  PairReport report = healthy();
  report.members[1].sb = Copy::kHung;
  report.members[1].unfit = "its disk is full";
  EXPECT_EQ(codes(look(report, 14s)), Codes{});
  Assessment seen = look(report, 2s);
  EXPECT_EQ(only(seen).code, Code::kFailoverNotFollowing);
  EXPECT_EQ(only(seen).subjects, std::vector<std::string>{"n3"});
  EXPECT_EQ(only(seen).summary, "n3 does not follow n1: nb following, sb hung");
  EXPECT_EQ(only(seen).evidence.back().says, "its disk is full");
  EXPECT_EQ(seen.verdict, Verdict::kWarning);

  report.own.nb = Copy::kDown;
  seen = look(report, 20s);
  EXPECT_EQ(codes(seen), (Codes{Code::kFailoverNotFollowing, Code::kFailoverNotFollowing,
                                Code::kFailoverNoStandby}));
  EXPECT_EQ(seen.findings.back().summary, "nobody could take over from n1");
}

TEST_F(AssessPair, ACopyOfWhichNothingIsKnownNeitherBeginsNorEndsAnything) {
  PairReport report = healthy();
  report.members[1].nb = Copy::kUnknown;
  EXPECT_EQ(codes(look(report, 1min)), Codes{});
  report.members[1].nb = Copy::kStray;
  look(report, 20s);
  report.members[1].nb = Copy::kUnknown;
  EXPECT_EQ(codes(look(report, 1min)), Codes{Code::kFailoverNotFollowing});
  report.members[1].sb = Copy::kDown;
  report.members[1].nb = Copy::kUnknown;
  EXPECT_EQ(only(look(report, 1s)).summary, "n3 does not follow n1: nb unknown, sb down");
}

TEST_F(AssessPair, WhomTheConfigurationKeepsFromItIsNoStandbyThatWasLost) {
  PairReport report = healthy();
  report.own.nofailover = true;
  report.members[1].nofailover = true;
  EXPECT_EQ(codes(look(report, 1min)), Codes{});
  report.members.pop_back();
  report.missing = {"n3"};
  EXPECT_EQ(codes(look(report, 1min)),
            (Codes{Code::kFailoverNoStandby, Code::kFailoverMemberMissing}))
      << "of who is missing nobody knows whether it may";
}

TEST_F(AssessPair, APairThatAllOnlyObserveIsSomebodyElses) {
  PairReport report = without_active();
  report.acts = false;
  report.own.observes = report.members[0].observes = true;
  EXPECT_EQ(look(report, 1min).verdict, Verdict::kOk);
  report.members[0].observes = false;
  EXPECT_EQ(look(report, 1min).verdict, Verdict::kCritical);
  report = healthy();
  report.members[1] = member("n3", Copy::kStray);
  report.members[1].observes = true;
  EXPECT_EQ(codes(look(report, 1min)), Codes{}) << "who observes is not to follow";
}

}  // namespace
}  // namespace wardmote::judge::failover
