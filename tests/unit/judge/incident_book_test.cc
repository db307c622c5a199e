#include "judge/incident/book.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "unit/judge/incident_book_fixture.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

TEST_F(IncidentBook, BeginsAndEndsWithWhatIsWrong) {
  raise(failing("check:web-1"));
  EXPECT_EQ(told(), Told{"opened 1"});
  const Incident& incident = book_.incidents().at(1);
  EXPECT_EQ(incident.root, "check:web-1");
  EXPECT_EQ(incident.severity, Severity::kCritical);
  EXPECT_EQ(incident.summary, "check:web-1 fails");
  EXPECT_EQ(incident.symptoms, 1U);
  raise(failing("check:web-1"));
  EXPECT_EQ(told(), Told{}) << "still the same";
  now_ += 1min;
  clear(failing("check:web-1"));
  EXPECT_EQ(told(), Told{"resolved 1"});
  EXPECT_EQ(book_.incidents().at(1).resolved, now_);
  EXPECT_EQ(book_.next_change(), std::nullopt);
}

TEST_F(IncidentBook, WhatFailsBelowAFailedThingIsItsConsequence) {
  raise(failing("node:n"));
  raise(failing("check:peer-1"));
  raise(failing("check:bird"));
  EXPECT_EQ(told(), Told{"opened 1"});
  EXPECT_EQ(book_.incidents().at(1).symptoms, 3U);
  clear(failing("node:n"));
  clear(failing("check:peer-1"));
  EXPECT_EQ(open(), 1U) << "it stands while one of its consequences does";
  clear(failing("check:bird"));
  EXPECT_EQ(open(), 0U);
}

TEST_F(IncidentBook, ACauseSeenLastTakesOverWhatItExplains) {
  raise(failing("check:peer-1"));
  raise(failing("check:peer-2"));
  EXPECT_EQ(told(), (Told{"opened 1", "opened 2"}));
  raise(failing("check:bird"));
  EXPECT_EQ(told(), (Told{"merged 2", "changed 1"}));
  EXPECT_EQ(book_.incidents().at(1).root, "check:bird");
  EXPECT_EQ(book_.incidents().at(2).merged_into, 1);
  EXPECT_EQ(book_.incident_of(failing("check:peer-2")), 1);
  clear(failing("check:peer-1"));
  clear(failing("check:bird"));
  EXPECT_TRUE(told().empty());
  clear(failing("check:peer-2"));
  EXPECT_EQ(told(), (Told{"resolved 1", "resolved 2"}));
}

TEST_F(IncidentBook, TheMembersOfAClusterThatFailsAreItsIncident) {
  raise(member_down("a"));
  raise(member_down("b"));
  raise(no_quorum());
  EXPECT_EQ(open(), 1U);
  const Incident& incident = book_.incidents().at(1);
  EXPECT_EQ(incident.code, Code::kRaftNoQuorum);
  EXPECT_EQ(incident.severity, Severity::kCritical);
  EXPECT_EQ(book_.symptoms_of(1, 10).size(), 3U);
  EXPECT_EQ(book_.symptoms_of(1, 10).front().code, Code::kRaftNoQuorum);
  (void)told();
  clear(no_quorum());
  EXPECT_EQ(told(), Told{"changed 1"});
  EXPECT_EQ(incident.severity, Severity::kWarning);
}

TEST_F(IncidentBook, AThingThatLearnsANameIsStillTheSame) {
  raise(member_down("a"));
  Symptom later = member_down("a");
  later.names = {"id-a", "tcp:10.0.0.1:6643"};
  raise(later);
  later.names = {"tcp:10.0.0.1:6643"};
  clear(later);
  EXPECT_EQ(told(), (Told{"opened 1", "resolved 1"}));
}

TEST_F(IncidentBook, AnAcknowledgementStaysUntilTheEnd) {
  raise(failing("check:web-1"));
  (void)told();
  take(book_.acknowledge(1, "ann", "on it", now_));
  EXPECT_EQ(told(), Told{"acknowledged 1"});
  EXPECT_EQ(book_.incidents().at(1).acknowledged->by, "ann");
  EXPECT_TRUE(book_.acknowledge(7, "ann", "", now_).empty());
  clear(failing("check:web-1"));
  EXPECT_TRUE(book_.acknowledge(1, "ann", "", now_).empty());
  raise(failing("check:web-1"));
  EXPECT_FALSE(book_.incidents().at(1).acknowledged) << "it is wrong anew";
}

TEST_F(IncidentBook, MuchAtOnceIsOneIncidentAndNothingActs) {
  for (int i = 0; i < 50; ++i) raise(failing("check:web-" + std::to_string(i)));
  EXPECT_EQ(open(), 1U);
  EXPECT_TRUE(book_.acts_frozen());
  const auto storm = std::ranges::find_if(
      book_.incidents(), [](const auto& entry) { return entry.second.phase == Phase::kOpen; });
  EXPECT_TRUE(storm->second.storm);
  EXPECT_EQ(storm->second.symptoms, 50U);
  EXPECT_EQ(storm->second.severity, Severity::kCritical);
  for (int i = 0; i < 50; ++i) clear(failing("check:web-" + std::to_string(i)));
  EXPECT_EQ(open(), 1U) << "it is left only after a delay";
  EXPECT_TRUE(book_.acts_frozen());
  ASSERT_TRUE(book_.next_change());
  pass(*book_.next_change() - now_);
  EXPECT_EQ(open(), 0U);
  EXPECT_FALSE(book_.acts_frozen());
}

TEST_F(IncidentBook, AFewFailuresOverADayAreNoStorm) {
  for (int i = 0; i < 50; ++i) {
    raise(failing("check:web-" + std::to_string(i)));
    pass(10min);
  }
  EXPECT_EQ(open(), 50U);
  EXPECT_FALSE(book_.acts_frozen());
}

TEST_F(IncidentBook, TenThousandFindingsInASecondAreOneIncidentEach) {
  Graph graph;
  for (int i = 0; i < 10'000; ++i) graph.add("check:" + std::to_string(i), "tcp");
  Book book(std::move(graph));
  std::size_t steps = 0;
  for (int i = 0; i < 10'000; ++i) {
    steps += book.raise(failing("check:" + std::to_string(i)), kStart + i * 100us).size();
  }
  for (int i = 0; i < 10'000; ++i) {
    steps += book.clear(failing("check:" + std::to_string(i)), kStart + 1min).size();
  }
  steps += book.pass(kStart + 10min).size();
  EXPECT_LE(steps, 80U) << "the first twenty, their merging and end, the storm's begin and end";
}

}  // namespace
}  // namespace wardmote::judge::incident
