// When an incident is over, and what is the same one again.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/incident/book.h"
#include "unit/judge/incident_book_fixture.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

class IncidentEnds : public IncidentBook {};

TEST_F(IncidentEnds, WhatWasMergedIsOverWhenItIsWellAndNotBefore) {
  raise(failing("check:peer-1"));
  raise(failing("check:peer-2"));
  raise(failing("check:bird"));
  (void)told();
  const Incident& merged = book_.incidents().at(2);
  EXPECT_EQ(merged.phase, Phase::kMerged);
  EXPECT_FALSE(merged.resolved);
  EXPECT_EQ(merged.summary, "it goes on in incident 1, check:bird; earlier: check:peer-2 fails");
  pass(1h);
  EXPECT_EQ(told(), Told{}) << "it still fails";
  clear(failing("check:peer-2"));
  EXPECT_EQ(told(), Told{"resolved 2"}) << "although its cause goes on";
  EXPECT_EQ(merged.resolved, now_);
  EXPECT_EQ(merged.summary, "check:peer-2 fails");
  raise(failing("check:peer-2"));
  EXPECT_EQ(told(), Told{}) << "it is a part of what goes on";
}

// The cause that it was named after is well again, and what it caused still fails.
TEST_F(IncidentEnds, WhatWasMergedGoesOnWhileAnythingBelowItsRootFails) {
  Graph graph;
  graph.add("node:n", "node");
  graph.add("check:disk", "file", {"node:n"});
  graph.add("check:bird", "bird", {"node:n"});
  graph.add("check:peer-1", "session", {"check:bird"});
  graph.add("check:peer-2", "session", {"check:bird"});
  book_ = Book(std::move(graph));
  raise(failing("check:disk"));
  raise(failing("check:bird"));
  raise(failing("check:peer-1"));
  clear(failing("check:bird"));
  raise(failing("node:n"));
  EXPECT_EQ(told(), (Told{"opened 1", "opened 2", "merged 2", "changed 1"}));
  ASSERT_EQ(book_.incidents().at(2).root, "check:bird");
  raise(failing("check:peer-2"));
  clear(failing("check:peer-2"));
  EXPECT_EQ(told(), Told{}) << "the other session still fails";
  clear(failing("check:peer-1"));
  EXPECT_EQ(told(), Told{"resolved 2"});
}

TEST_F(IncidentEnds, WhatAStormTookInIsOverWhenItIsWell) {
  for (int i = 0; i < 30; ++i) raise(failing("check:web-" + std::to_string(i)));
  EXPECT_EQ(book_.incidents().at(1).phase, Phase::kMerged);
  (void)told();
  clear(failing("check:web-0"));
  EXPECT_EQ(told(), Told{"resolved 1"});
  for (int i = 1; i < 30; ++i) clear(failing("check:web-" + std::to_string(i)));
  pass(10min);
  for (const auto& [id, incident] : book_.incidents()) {
    EXPECT_EQ(incident.phase, Phase::kResolved) << id;
  }
}

// Another failure has become the cause, which nobody has acknowledged.
TEST_F(IncidentEnds, AnAcknowledgementEndsWithItsCause) {
  raise(failing("check:peer-1"));
  take(book_.acknowledge(1, "ann", "", now_));
  raise(failing("check:peer-2"));
  EXPECT_TRUE(book_.incidents().at(1).acknowledged);
  (void)told();
  raise(failing("check:bird"));
  EXPECT_EQ(book_.incidents().at(1).root, "check:bird");
  EXPECT_FALSE(book_.incidents().at(1).acknowledged);
  EXPECT_EQ(told(), (Told{"unacknowledged 1", "merged 2", "changed 1"})) << "the history says so";
}

TEST_F(IncidentEnds, ItRemembersWhatLeftItWhileItFailed) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  Departures left;
  left.gone = {"check:peer-1"};
  take(book_.reshape(sample_graph(), left, now_));
  EXPECT_EQ(book_.incidents().at(1).left, std::vector<std::string>{"check:peer-1"});
  EXPECT_FALSE(book_.incidents().at(1).unwatched);
  raise(failing("check:peer-1"));
  EXPECT_TRUE(book_.incidents().at(1).left.empty()) << "it is there again";
}

// What it depended on was taken out of its definition while the agent did not run: it was told
// twice.
TEST_F(IncidentEnds, AfterARestartItStaysInItsIncidentWhateverItDependsOnNow) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  Graph graph;
  graph.add("check:bird", "bird");
  graph.add("check:peer-1", "session");
  Book next(std::move(graph));
  next.recall({book_.incidents().at(1)}, now_);
  EXPECT_TRUE(next.raise_again(failing("check:bird"), now_).empty());
  EXPECT_TRUE(next.raise_again(failing("check:peer-1"), now_).empty());
  EXPECT_EQ(next.incidents().size(), 1U);
  for (const Step& step : next.clear(failing("check:bird"), now_))
    EXPECT_NE(step.kind, StepKind::kResolved);
  EXPECT_EQ(next.clear(failing("check:peer-1"), now_).back().kind, StepKind::kResolved);
}

// Its new cause fails too, and its old one was told.
TEST_F(IncidentEnds, AfterARestartItStaysInItsIncidentAlsoWhenWhatItDependsOnNowFails) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  raise(failing("check:web-1"));
  Graph graph;
  graph.add("check:bird", "bird");
  graph.add("check:web-1", "http");
  graph.add("check:peer-1", "session", {"check:web-1"});
  Book next(std::move(graph));
  next.recall({book_.incidents().at(1), book_.incidents().at(2)}, now_);
  for (const char* const name : {"check:web-1", "check:bird", "check:peer-1"})
    EXPECT_TRUE(next.raise_again(failing(name), now_).empty()) << name;
  EXPECT_EQ(next.incident_of(failing("check:peer-1")), 1);
}

// Its root was good, and the rest was taken out of the configuration while the agent did not run.
TEST_F(IncidentEnds, WhatNobodyWatchesAnyMoreIsNotAwaited) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  clear(failing("check:bird"));
  Book next(sample_graph());
  next.recall({book_.incidents().at(1)}, now_);
  const Steps steps = next.leave("check:peer-1", "session", now_);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, StepKind::kResolved);
  EXPECT_FALSE(steps[0].incident.unwatched) << "its root was seen good";
  EXPECT_EQ(steps[0].incident.left, std::vector<std::string>{"check:peer-1"});
}

// Its root was good by then, and what was below it gave it its name: that is seen again at once.
TEST_F(IncidentEnds, WhatItIsNamedAfterIsEnoughToSeeItAgainAfterARestart) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  clear(failing("check:bird"));
  const std::string summary = book_.incidents().at(1).summary;
  EXPECT_TRUE(summary.starts_with("check:peer-1 fails")) << summary;
  Book next(sample_graph());
  next.recall({book_.incidents().at(1)}, now_);
  EXPECT_TRUE(next.awaited(1));
  EXPECT_TRUE(next.raise_again(failing("check:peer-1"), now_).empty());
  EXPECT_FALSE(next.awaited(1));
  EXPECT_EQ(next.incidents().at(1).summary, summary) << "a restart changes nothing that is said";
  Book other(sample_graph());
  other.recall({book_.incidents().at(1)}, now_);
  EXPECT_TRUE(other.raise_again(failing("check:peer-2"), now_).empty());
  EXPECT_TRUE(other.awaited(1)) << "another one below it";
}

TEST_F(IncidentEnds, OneOfSeveralThatLeftLeavesTheOthersAwaited) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  Book next(sample_graph());
  next.recall({book_.incidents().at(1)}, now_);
  EXPECT_TRUE(next.leave("check:peer-1", "session", now_).empty());
  EXPECT_TRUE(next.awaited(1));
}

TEST_F(IncidentEnds, ARootThatWasSeenGoodIsNotCalledUnwatched) {
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  clear(failing("check:bird"));
  Departures left;
  left.gone = {"check:peer-1"};
  const Steps steps = book_.reshape(sample_graph(), left, now_);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back().kind, StepKind::kResolved);
  EXPECT_FALSE(steps.back().incident.unwatched);
}

// The checks of a storm were taken out of the configuration while the agent did not run.
TEST_F(IncidentEnds, AStormOfWhichNobodyIsLeftIsNotWatched) {
  for (int i = 0; i < 30; ++i) raise(failing("check:web-" + std::to_string(i)));
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) {
    if (incident.phase == Phase::kOpen) kept.push_back(incident);
  }
  ASSERT_EQ(kept.size(), 1U);
  Book next(sample_graph());
  next.recall(kept, now_);
  Steps steps;
  for (int i = 0; i < 30; ++i) {
    const bool last = i == 29;
    steps = next.leave("check:web-" + std::to_string(i), "http", now_);
    EXPECT_EQ(next.awaited(kept[0].id), !last) << i;
  }
  steps = next.pass(now_ + 10min);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, StepKind::kResolved);
  EXPECT_TRUE(steps[0].incident.unwatched);
}

TEST_F(IncidentEnds, WhatWasMergedIsNotOverByARestart) {
  raise(failing("check:peer-1"));
  raise(failing("check:peer-2"));
  raise(failing("check:bird"));
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
  Book next(sample_graph());
  next.recall(kept, now_);
  for (const char* const name : {"check:bird", "check:peer-1", "check:peer-2"}) {
    EXPECT_TRUE(next.raise(failing(name), now_).empty()) << name;
  }
  EXPECT_TRUE(next.pass(now_ + 10min).empty());
  const Steps over = next.clear(failing("check:peer-2"), now_ + 11min);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].kind, StepKind::kResolved);
  EXPECT_EQ(over[0].incident.id, 2);
}

TEST_F(IncidentEnds, WhatWasMergedAndIsNotSeenAgainAfterARestartEndsWithItsCause) {
  raise(member_down("a"));
  raise(member_down("b"));
  raise(no_quorum());
  ASSERT_EQ(book_.incidents().at(2).phase, Phase::kMerged);
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
  Book next(sample_graph());
  next.recall(kept, now_);
  EXPECT_TRUE(next.raise(no_quorum(), now_ + 1s).empty());
  EXPECT_TRUE(next.pass(now_ + 1min).empty());
  EXPECT_EQ(next.clear(no_quorum(), now_ + 1min).size(), 2U);
}

TEST_F(IncidentEnds, FailingAgainSoonIsTheSameIncident) {
  raise(failing("check:web-1"));
  clear(failing("check:web-1"));
  now_ += 5min;
  raise(failing("check:web-1"));
  EXPECT_EQ(told(), (Told{"opened 1", "resolved 1", "reopened 1"}));
  clear(failing("check:web-1"));
  now_ += 11min;
  raise(failing("check:web-1"));
  EXPECT_EQ(told(), (Told{"resolved 1", "opened 2"}));
}

TEST_F(IncidentEnds, WhatFlapsIsToldOnceAndEndsWhenItHasBeenCalm) {
  for (int i = 0; i < 50; ++i) {
    raise(failing("check:web-1"));
    now_ += 10s;
    clear(failing("check:web-1"));
    now_ += 10s;
  }
  EXPECT_EQ(told(), (Told{"opened 1", "resolved 1", "reopened 1", "resolved 1", "reopened 1",
                          "resolved 1", "flapping 1"}))
      << "and nothing after that";
  ASSERT_TRUE(book_.next_change());
  const Duration left = *book_.next_change() - now_;
  EXPECT_GT(left, 10min);
  pass(left - 1s);
  EXPECT_EQ(told(), Told{});
  pass(1s);
  EXPECT_EQ(told(), Told{"resolved 1"});
}

TEST_F(IncidentEnds, ARestartForgetsNoTimeThatItCameAndWent) {
  const auto restart = [&] {
    std::vector<Incident> kept;
    for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
    book_ = Book(sample_graph());
    book_.recall(kept, now_);
  };
  for (int i = 0; i < 5; ++i) {
    raise(failing("check:web-1"));
    now_ += 10s;
    if (i % 2 == 0) restart();
    raise(failing("check:web-1"));
    clear(failing("check:web-1"));
    now_ += 10s;
    restart();
  }
  EXPECT_EQ(told(), (Told{"opened 1", "resolved 1", "reopened 1", "resolved 1", "reopened 1",
                          "resolved 1", "flapping 1"}));
  pass(BookPolicy().settle);
  EXPECT_EQ(open(), 1U) << "it has to be calm first";
  // One that an earlier version stored without its penalty is calm in time, too.
  Incident old = book_.incidents().at(1);
  old.penalty = {};
  book_ = Book(sample_graph());
  book_.recall({old}, now_);
  pass(BookPolicy().settle);
  EXPECT_EQ(told(), Told{});
  pass(30min);
  EXPECT_EQ(told(), Told{"resolved 1"});
}

/// A member that is killed and started every few seconds: its own failure shows first, that of the
/// cluster later.
TEST_F(IncidentEnds, WhatComesBackUnderItsFirstRootIsTheSameIncident) {
  for (int i = 0; i < 10; ++i) {
    raise(member_down("b"));
    raise(no_quorum());
    now_ += 3s;
    clear(no_quorum());
    clear(member_down("b"));
    now_ += 3s;
  }
  EXPECT_EQ(told(), (Told{"opened 1", "changed 1", "changed 1", "resolved 1",    //
                          "reopened 1", "changed 1", "changed 1", "resolved 1",  //
                          "reopened 1", "changed 1", "changed 1", "resolved 1",  //
                          "flapping 1", "changed 1"}))
      << "and nothing after that";
  ASSERT_EQ(book_.incidents().size(), 1U);
  EXPECT_TRUE(book_.incidents().at(1).flapping);
  pass(5min);
  EXPECT_EQ(open(), 1U) << "it has to be calm first";
  pass(30min);
  EXPECT_EQ(open(), 0U);
}

TEST_F(IncidentEnds, APartOfAnIncidentThatFailsSoonAfterItsEndOpensItAgain) {
  raise(failing("check:bird"));
  raise(failing("check:peer-1"));
  clear(failing("check:bird"));
  clear(failing("check:peer-1"));
  (void)told();
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
  Book next(sample_graph());
  next.recall(kept, now_);
  raise(failing("check:peer-1"));
  EXPECT_EQ(told(), Told{"reopened 1"});
  EXPECT_EQ(book_.incidents().at(1).root, "check:peer-1");
  EXPECT_EQ(book_.incidents().at(1).summary, "check:peer-1 fails");
  const Steps again = next.raise(failing("check:peer-1"), now_);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].kind, StepKind::kReopened) << "also after a restart";
}

TEST_F(IncidentEnds, WhatAStormTookInIsTheSameWhenItFailsAgainAfterTheStorm) {
  for (int i = 0; i < 30; ++i) raise(failing("check:web-" + std::to_string(i)));
  pass(6min);
  for (int i = 0; i < 30; ++i) clear(failing("check:web-" + std::to_string(i)));
  EXPECT_EQ(open(), 0U);
  (void)told();
  raise(failing("check:web-0"));
  EXPECT_EQ(told(), Told{"reopened 1"});
  EXPECT_EQ(book_.incidents().at(1).merged_into, 0);
}

TEST_F(IncidentEnds, WhatFlapsIsNotCalmByARestart) {
  for (int i = 0; i < 4; ++i) {
    raise(failing("check:web-1"));
    clear(failing("check:web-1"));
  }
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
  Book next(sample_graph());
  next.recall(kept, now_);
  EXPECT_TRUE(next.pass(now_ + 5min).empty());
  EXPECT_EQ(next.pass(now_ + 30min).size(), 1U);
}

TEST_F(IncidentEnds, ARestartNeitherEndsNorRepeatsWhatStands) {
  raise(failing("check:web-1"));
  raise(failing("check:web-2"));
  std::vector<Incident> kept;
  for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
  Book next(sample_graph());
  next.recall(kept, now_);
  EXPECT_TRUE(next.pass(now_ + 10s).empty());
  EXPECT_TRUE(next.raise(failing("check:web-1"), now_ + 20s).empty()) << "told already";
  ASSERT_TRUE(next.next_change());
  const Steps ended = next.pass(*next.next_change());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].incident.id, 2);
  EXPECT_EQ(ended[0].kind, StepKind::kResolved);
  EXPECT_EQ(next.raise(failing("check:web-3"), now_ + 3min).front().incident.id, 3);
}

TEST_F(IncidentEnds, WhatIsWatchedNoMoreEndsAndIsNotSaidToBeWell) {
  raise(failing("check:web-1"));
  raise(failing("check:bird"));
  raise(failing("check:peer-1"));
  (void)told();
  take(book_.reshape(sample_graph(), {{"check:web-1", "check:bird"}, {}}, now_));
  EXPECT_EQ(told(), Told{"resolved 1"});
  const Incident& gone = book_.incidents().at(1);
  EXPECT_TRUE(gone.unwatched);
  EXPECT_EQ(gone.summary,
            "it is not watched any more, and nobody saw it good; earlier: check:web-1 fails");
  clear(failing("check:peer-1"));
  EXPECT_EQ(told(), Told{"resolved 2"});
  EXPECT_TRUE(book_.incidents().at(2).unwatched) << "nobody saw its root well";
  raise(failing("check:web-1"));
  EXPECT_EQ(told(), Told{"reopened 1"});
  EXPECT_FALSE(gone.unwatched);
}

TEST_F(IncidentEnds, ARootThatWasWellBeforeItWentWasWell) {
  raise(failing("check:bird"));
  raise(failing("check:peer-1"));
  clear(failing("check:bird"));
  take(book_.reshape(sample_graph(), {{"check:bird"}, {}}, now_));
  EXPECT_EQ(open(), 1U);
  clear(failing("check:peer-1"));
  EXPECT_EQ(told().back(), "resolved 1");
  EXPECT_FALSE(book_.incidents().at(1).unwatched);
}

TEST_F(IncidentEnds, WhatWasMergedIsNotWellWhenItIsWatchedNoMore) {
  raise(failing("check:peer-1"));
  raise(failing("check:peer-2"));
  raise(failing("check:bird"));
  (void)told();
  take(book_.reshape(sample_graph(), {{"check:peer-2"}, {}}, now_));
  EXPECT_EQ(told(), Told{"resolved 2"});
  EXPECT_TRUE(book_.incidents().at(2).unwatched);
  EXPECT_FALSE(book_.incidents().at(1).unwatched);
}

/// A failed check under its new definition: raised() again, or cleared when it is seen good.
TEST_F(IncidentEnds, WhatIsDefinedAnewStandsUntilItIsSeenWell) {
  Symptom failed = failing("check:web-1");
  failed.code = Code::kCheckFailed;
  raise(failed);
  raise(no_quorum());
  raise(member_down("a"));
  (void)told();
  take(book_.reshape(sample_graph(), {{}, {"check:web-1", "cluster:nb"}}, now_));
  EXPECT_EQ(told(), Told{});
  EXPECT_EQ(book_.incidents().at(1).symptoms, 1U);
  EXPECT_TRUE(book_.awaited(2)) << "it is looked for anew";
  pass(1min);
  raise(member_down("a"));
  raise(no_quorum());
  EXPECT_FALSE(book_.awaited(2));
  pass(1h);
  EXPECT_EQ(told(), Told{}) << "as after a restart, nothing is said";
  clear(failed);
  clear(member_down("a"));
  clear(no_quorum());
  EXPECT_EQ(open(), 0U);
}

TEST_F(IncidentEnds, WhatIsDefinedAnewAndNotSeenAgainEndsInTime) {
  raise(no_quorum());
  take(book_.reshape(sample_graph(), {{}, {"cluster:nb"}}, now_));
  (void)told();
  pass(BookPolicy().settle);
  EXPECT_EQ(told(), Told{"resolved 1"});
  EXPECT_EQ(book_.incidents().at(1).code, Code::kRaftNoQuorum);
}

TEST_F(IncidentEnds, OneThatFlapsAndIsQuietHasNoSymptom) {
  Book book(sample_graph());
  for (int i = 0; i < 20; ++i) {
    const TimePoint now = kStart + i * 20s;
    book.raise(failing("check:web-1"), now);
    book.clear(failing("check:web-1"), now + 10s);
  }
  const auto& [id, incident] = *book.incidents().rbegin();
  ASSERT_EQ(incident.phase, Phase::kOpen) << "it has to be calm first";
  EXPECT_TRUE(incident.flapping);
  EXPECT_TRUE(book.symptoms_of(id, 10).empty());
  EXPECT_EQ(incident.symptoms, 0U);
}

TEST_F(IncidentEnds, OldResolvedOnesAreForgotten) {
  Book book(sample_graph(), {.keep_resolved = 10});
  for (int i = 0; i < 100; ++i) {
    const TimePoint now = kStart + i * 1h;
    book.raise(failing("check:web-1"), now);
    book.clear(failing("check:web-1"), now + 1min);
  }
  EXPECT_EQ(book.incidents().size(), 10U);
  EXPECT_EQ(book.incidents().rbegin()->first, 100);
}

}  // namespace
}  // namespace wardmote::judge::incident
