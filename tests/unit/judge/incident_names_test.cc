// How an incident is called: by what is wrong with its root, truthfully counted, also after a
// restart.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "judge/incident/book.h"
#include "unit/judge/incident_names_fixture.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

// Of the root nothing was known, and now it is seen failing.
TEST_F(IncidentNames, AfterARestartAFailureIsMoreThanThatNothingIsKnown) {
  Symptom blind = failing("check:peer-1");
  blind.code = Code::kMonitorBlind;
  raise(blind);
  book_ = restarted();
  raise(failing("check:peer-1"));
  EXPECT_EQ(incident(1).code, Code::kCheckFailed);
  clear(failing("check:peer-1"));
  EXPECT_EQ(incident(1).phase, Phase::kResolved);
  EXPECT_EQ(incident(1).code, Code::kCheckFailed);
}

// The root was good, and nobody saw the other.
TEST_F(IncidentNames, AfterARestartWhatIsBlindBelowIsNotEndedByItsRoot) {
  raise(failing("check:daemon"));
  Symptom blind = failing("check:peer-1");
  blind.code = Code::kMonitorBlind;
  raise(blind);
  clear(failing("check:daemon"));
  book_ = restarted();
  told_.clear();
  Symptom of_root = failing("check:daemon");
  clear(of_root);
  of_root.code = Code::kMonitorBlind;
  clear(of_root);
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(book_.awaited(1));
}

TEST_F(IncidentNames, ACauseSeenLastGivesItsName) {
  raise(failing("check:peer-1"));
  raise(failing("check:daemon", "hung"));
  EXPECT_EQ(incident(1).root, "check:daemon");
  EXPECT_EQ(incident(1).summary, "daemon fails: hung");
  EXPECT_EQ(told_.back().kind, StepKind::kChanged);
  EXPECT_EQ(told_.back().incident.summary, "daemon fails: hung") << "and so is told";
}

TEST_F(IncidentNames, AChildThatFailsLaterOrEndsLastDoesNotRenameIt) {
  raise(failing("check:daemon", "hung"));
  raise(failing("check:peer-1"));
  EXPECT_EQ(incident(1).summary, "daemon fails: hung");
  clear(failing("check:daemon"));
  EXPECT_EQ(incident(1).summary, "peer-1 fails: refused; earlier: daemon fails: hung")
      << "the daemon does not fail any more";
  clear(failing("check:peer-1"));
  ASSERT_EQ(told_.back().kind, StepKind::kResolved);
  EXPECT_EQ(told_.back().incident.summary, "daemon fails: hung") << "it ends as what it was";
  EXPECT_EQ(told_.back().incident.names, std::vector<std::string>{"daemon"});
}

TEST_F(IncidentNames, SeverityIsThatOfTheGravestPart) {
  Symptom host = failing("check:host");
  host.severity = Severity::kWarning;
  raise(host);
  raise(failing("check:daemon"));
  EXPECT_EQ(incident(1).summary, "host fails: refused");
  EXPECT_EQ(incident(1).severity, Severity::kCritical);
}

TEST_F(IncidentNames, ARestartChangesNoName) {
  raise(failing("check:daemon", "hung"));
  raise(failing("check:peer-1"));
  Book next = restarted();
  EXPECT_TRUE(next.raise(failing("check:peer-1"), now_).empty());
  EXPECT_EQ(next.incidents().at(1).summary, "daemon fails: hung") << "nobody saw it well yet";
  EXPECT_TRUE(next.raise(failing("check:daemon", "hung"), now_).empty());
  EXPECT_EQ(next.incidents().at(1).summary, "daemon fails: hung");
  EXPECT_EQ(next.incidents().at(1).symptoms, 2U);
}

// A root that is optional is a warning, and what hangs on it is not.
TEST_F(IncidentNames, ARestartChangesNoSeverityWhileNotAllOfItWasSeenAgain) {
  Symptom root = failing("check:daemon", "hung");
  root.severity = Severity::kWarning;
  root.optional = true;
  raise(root);
  raise(failing("check:peer-1"));
  Book next = restarted();
  EXPECT_TRUE(next.raise(root, now_).empty());
  EXPECT_EQ(next.incidents().at(1).severity, Severity::kCritical);
  EXPECT_TRUE(next.raise(failing("check:peer-1"), now_).empty());
  const Steps better = next.clear(failing("check:peer-1"), now_);
  ASSERT_EQ(better.size(), 1U);
  EXPECT_EQ(better[0].incident.severity, Severity::kWarning) << "it was seen, and is over";
  Book last = restarted();
  last.raise(root, now_);
  const TimePoint settled = now_ + BookPolicy().settle;
  EXPECT_EQ(last.next_change(), settled);
  EXPECT_EQ(last.pass(settled).at(0).incident.severity, Severity::kWarning)
      << "that it still fails nobody has seen";
}

TEST_F(IncidentNames, ARootThatIsSeenWellAfterARestartGivesTheNameAway) {
  raise(failing("check:daemon", "hung"));
  Book next = restarted();
  next.raise(failing("check:peer-1"), now_);
  next.clear(failing("check:daemon"), now_);
  EXPECT_EQ(next.incidents().at(1).summary, "peer-1 fails: refused; earlier: daemon fails: hung");
  const Steps ended = next.clear(failing("check:peer-1"), now_);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].incident.summary, "daemon fails: hung");
}

TEST_F(IncidentNames, ARootThatIsNeverSeenAgainIsForgottenInTime) {
  raise(failing("check:daemon", "hung"));
  Book next = restarted();
  next.raise(failing("check:peer-1"), now_);
  const TimePoint settled = now_ + BookPolicy().settle;
  next.pass(settled);
  EXPECT_TRUE(next.incidents().at(1).summary.starts_with("peer-1 fails"));
}

TEST_F(IncidentNames, TheGravestFindingOfARootNamesItAlsoWhenAnotherStandsForLonger) {
  raise(finding(Code::kRaftMemberDown, "a"));
  raise(finding(Code::kRaftQuorumMargin, "", Severity::kWarning));
  EXPECT_EQ(incident(1).code, Code::kRaftMemberDown);
  raise(finding(Code::kRaftNoQuorum, "", Severity::kCritical, kStart + 1min));
  EXPECT_EQ(incident(1).code, Code::kRaftNoQuorum);
  EXPECT_EQ(incident(1).summary, "RAFT_NO_QUORUM");
  EXPECT_EQ(told_.back().kind, StepKind::kChanged) << "and that is told";
  EXPECT_EQ(told_.back().incident.code, Code::kRaftNoQuorum);
  EXPECT_EQ(book_.symptoms_of(1, 10).front().code, Code::kRaftNoQuorum);
  raise(finding(Code::kRaftMemberDown, "b"));
  EXPECT_EQ(incident(1).code, Code::kRaftNoQuorum);
}

TEST_F(IncidentNames, WhatComesBackInOneLookIsCalledByTheGravestOfIt) {
  raise(finding(Code::kRaftMemberDown, "a"));
  clear(finding(Code::kRaftMemberDown, "a"));
  told_.clear();
  raise(finding(Code::kRaftNoQuorum, "", Severity::kCritical, kStart + 1min));
  raise(finding(Code::kRaftMemberDown, "a"));
  raise(finding(Code::kRaftMemberDown, "b"));
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].code, Code::kRaftNoQuorum);
}

TEST_F(IncidentNames, AnEndNamesTheGravestThatItWasAndNotWhatWasOverLast) {
  raise(finding(Code::kRaftQuorumMargin, "", Severity::kWarning));
  raise(finding(Code::kRaftNoQuorum));
  clear(finding(Code::kRaftQuorumMargin));
  raise(finding(Code::kRaftNoLeader));
  clear(finding(Code::kRaftNoQuorum));
  EXPECT_EQ(incident(1).code, Code::kRaftNoLeader);
  clear(finding(Code::kRaftNoLeader));
  ASSERT_EQ(told_.back().kind, StepKind::kResolved);
  EXPECT_EQ(told_.back().incident.code, Code::kRaftNoQuorum);
}

TEST_F(IncidentNames, WhatShowsFirstAfterARestartDoesNotMakeItLessGrave) {
  raise(finding(Code::kRaftNoQuorum));
  Book next = restarted();
  EXPECT_TRUE(next.awaited(1));
  EXPECT_TRUE(next.raise(finding(Code::kRaftMemberDown, "a", Severity::kWarning), now_).empty());
  EXPECT_EQ(next.incidents().at(1).code, Code::kRaftNoQuorum);
  EXPECT_EQ(next.incidents().at(1).severity, Severity::kCritical);
  EXPECT_TRUE(next.awaited(1));
  EXPECT_TRUE(next.raise(finding(Code::kRaftNoQuorum), now_).empty());
  EXPECT_FALSE(next.awaited(1));
}

TEST_F(IncidentNames, AnIncidentOfWhichEverythingIsSeenWellWaitsNoLonger) {
  raise(finding(Code::kRaftNoQuorum));
  Book next = restarted();
  const Steps over = next.give_up(1, now_);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, StepKind::kResolved);
  EXPECT_EQ(over[0].incident.code, Code::kRaftNoQuorum);
  EXPECT_TRUE(next.give_up(1, now_).empty());
}

TEST_F(IncidentNames, WhatFlapsAndIsWellDoesNotSayThatItFails) {
  for (int i = 0; i < 4; ++i) {
    raise(failing("check:web-1"));
    clear(failing("check:web-1"));
  }
  ASSERT_EQ(open().size(), 1U);
  EXPECT_TRUE(open()[0].flapping);
  EXPECT_EQ(open()[0].symptoms, 0U);
  EXPECT_EQ(open()[0].summary,
            "nothing of it fails now, but it came and went too often: it ends when it has been "
            "calm; earlier: web-1 fails: refused");
  EXPECT_TRUE(book_.take_renamed().contains(1)) << "also where it is written down";
  Book next = restarted();
  raise(failing("check:web-1"));
  EXPECT_EQ(open()[0].summary, "web-1 fails: refused");
  next.raise(failing("check:web-1"), now_);
  EXPECT_EQ(next.incidents().at(1).summary, "web-1 fails: refused");
  clear(failing("check:web-1"));
  pass(1h);
  EXPECT_EQ(told_.back().kind, StepKind::kResolved);
  EXPECT_EQ(told_.back().incident.summary, "web-1 fails: refused");
}

TEST_F(IncidentNames, WhatBeginsAgainSaysSinceWhen) {
  raise(failing("check:web-1"));
  now_ += 1min;
  clear(failing("check:web-1"));
  now_ += 5min;
  raise(failing("check:web-1"));
  EXPECT_EQ(incident(1).reopened, 1);
  EXPECT_EQ(incident(1).opened, kStart);
  EXPECT_EQ(incident(1).since, now_);
}

/// Whatever fails and ends in whichever order: while the root of an incident fails, it gives the
/// incident its name; no incident is less grave than what stands in it; and a storm says how many
/// things fail.
RC_GTEST_PROP(IncidentNamesProperty, WhatIsSaidIsTrue, ()) {
  Book book(named_graph());
  std::vector<std::string> all = {"check:host", "check:daemon", "check:peer-1", "check:peer-2"};
  for (int i = 0; i < 30; ++i) {
    all.push_back("check:file-" + std::to_string(i));
    all.push_back("check:lone-" + std::to_string(i));
  }
  TimePoint now = kStart;
  const int length = *rc::gen::inRange(1, 200);
  for (int i = 0; i < length; ++i) {
    const std::string& thing = all[*rc::gen::inRange<std::size_t>(0, all.size())];
    now += std::chrono::milliseconds(*rc::gen::inRange(0, 3000));
    if (*rc::gen::inRange(0, 4) == 0) {
      book.clear(failing(thing), now);
    } else {
      book.raise(failing(thing), now);
    }
    if (*rc::gen::inRange(0, 20) == 0) book.pass(now);
    for (const auto& [id, incident] : book.incidents()) {
      if (incident.phase != Phase::kOpen) continue;
      const std::vector<Symptom> standing = book.symptoms_of(id, 1000);
      RC_ASSERT(standing.size() == incident.symptoms);
      if (standing.empty()) continue;
      RC_ASSERT(incident.severity >= standing.front().severity);
      if (incident.storm) {
        RC_ASSERT(incident.summary.starts_with(std::to_string(standing.size()) + " of 60 "));
        continue;
      }
      const auto root = std::ranges::find(standing, incident.root, &Symptom::component);
      if (root != standing.end()) RC_ASSERT(incident.summary == root->summary);
    }
  }
  for (const std::string& thing : all) book.clear(failing(thing), now);
  for (int i = 0; i < 100 && book.next_change(); ++i) {
    now = std::max(now, *book.next_change());
    book.pass(now);
  }
  for (const auto& [id, incident] : book.incidents()) RC_ASSERT(incident.phase != Phase::kOpen);
  RC_ASSERT(!book.acts_frozen());
}

}  // namespace
}  // namespace wardmote::judge::incident
