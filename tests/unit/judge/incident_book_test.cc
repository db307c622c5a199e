#include "judge/incident/book.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{10h};

/// A node with a daemon with two sessions, a cluster with two members, and fifty checks.
Graph sample_graph() {
  Graph graph;
  graph.add("node:n", "node");
  graph.add("check:bird", "bird", {"node:n"});
  graph.add("check:peer-1", "session", {"check:bird"});
  graph.add("check:peer-2", "session", {"check:bird"});
  graph.add("cluster:nb", "cluster");
  graph.add("member:nb/a", "member", {"cluster:nb"});
  graph.add("member:nb/b", "member", {"cluster:nb"});
  for (int i = 0; i < 50; ++i) graph.add("check:web-" + std::to_string(i), "http");
  return graph;
}

Symptom failing(const std::string& thing, Severity severity = Severity::kCritical,
                TimePoint since = kStart) {
  return {thing, thing, Code::kMonitorBlind, severity, {thing}, thing + " fails", since};
}

Symptom member_down(const std::string& member) {
  return {"cluster:nb",
          "member:nb/" + member,
          Code::kRaftMemberDown,
          Severity::kWarning,
          {member, "id-" + member},
          member + " is down",
          kStart};
}

Symptom no_quorum() {
  return {"cluster:nb", "cluster:nb", Code::kRaftNoQuorum, Severity::kCritical, {},
          "no quorum",  kStart};
}

class IncidentBook : public testing::Test {
 protected:
  void raise(const Symptom& symptom) { take(book_.raise(symptom, now_)); }
  void clear(const Symptom& symptom) { take(book_.clear(symptom, now_)); }
  void pass(Duration time) {
    now_ += time;
    take(book_.pass(now_));
  }
  void take(const Steps& steps) {
    for (const Step& step : steps) {
      told_.push_back(std::string(to_string(step.kind)) + " " + std::to_string(step.incident.id));
    }
  }
  [[nodiscard]] std::vector<std::string> told() { return std::exchange(told_, {}); }
  [[nodiscard]] std::size_t open() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        book_.incidents(), [](const auto& entry) { return entry.second.phase == Phase::kOpen; }));
  }

  using Told = std::vector<std::string>;
  TimePoint now_ = kStart;
  Book book_{sample_graph()};
  std::vector<std::string> told_;
};

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
  clear(failing("check:peer-2"));
  clear(failing("check:bird"));
  EXPECT_EQ(told().back(), "resolved 1");
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

TEST_F(IncidentBook, FailingAgainSoonIsTheSameIncident) {
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

TEST_F(IncidentBook, WhatFlapsIsToldOnceAndEndsWhenItHasBeenCalm) {
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
  EXPECT_LE(steps, 50U) << "the first twenty, their merging, the storm's begin and end";
}

TEST_F(IncidentBook, ARestartNeitherEndsNorRepeatsWhatStands) {
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

TEST_F(IncidentBook, OneThatFlapsAndIsQuietHasNoSymptom) {
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

TEST_F(IncidentBook, OldResolvedOnesAreForgotten) {
  Book book(sample_graph(), {.keep_resolved = 10});
  for (int i = 0; i < 100; ++i) {
    const TimePoint now = kStart + i * 1h;
    book.raise(failing("check:web-1"), now);
    book.clear(failing("check:web-1"), now + 1min);
  }
  EXPECT_EQ(book.incidents().size(), 10U);
  EXPECT_EQ(book.incidents().rbegin()->first, 100);
}

std::vector<std::string> things() {
  std::vector<std::string> all = {"node:n", "check:bird", "check:peer-1", "check:peer-2"};
  for (int i = 0; i < 12; ++i) all.push_back("check:web-" + std::to_string(i));
  return all;
}

/// What must hold of every story: each symptom in one open incident, one incident for each root,
/// steps in an order that makes sense, and silence in the end.
RC_GTEST_PROP(IncidentBookProperty, EveryStoryIsConsistent, ()) {
  Book book(sample_graph());
  std::set<std::string> wrong;
  std::map<std::int64_t, bool> begun;
  std::map<std::int64_t, std::uint64_t> revisions;
  TimePoint now = kStart;
  const auto take = [&](const Steps& steps) {
    for (const Step& step : steps) {
      const std::int64_t id = step.incident.id;
      RC_ASSERT(step.incident.revision > revisions[id]);
      revisions[id] = step.incident.revision;
      const bool ends = step.kind == StepKind::kResolved || step.kind == StepKind::kMerged;
      const bool begins = step.kind == StepKind::kOpened || step.kind == StepKind::kReopened ||
                          (step.kind == StepKind::kFlapping && !begun[id]);
      RC_ASSERT(begins != begun[id]);
      if (begins) begun[id] = true;
      if (ends) begun[id] = false;
    }
  };
  const auto all = things();
  const int length = *rc::gen::inRange(1, 120);
  for (int i = 0; i < length; ++i) {
    const std::string& thing = all[*rc::gen::inRange<std::size_t>(0, all.size())];
    now += std::chrono::seconds(*rc::gen::inRange(0, 90));
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
      case 1:
        take(book.raise(failing(thing), now));
        wrong.insert(thing);
        break;
      case 2:
      case 3:
        take(book.clear(failing(thing), now));
        wrong.erase(thing);
        break;
      default: take(book.pass(now)); break;
    }
    std::set<std::string> covered;
    std::set<std::string> roots;
    for (const auto& [id, incident] : book.incidents()) {
      RC_ASSERT((incident.phase == Phase::kOpen) == begun[id]);
      if (incident.phase != Phase::kOpen) continue;
      RC_ASSERT(roots.insert(incident.root).second);
      const auto symptoms = book.symptoms_of(id, 1000);
      RC_ASSERT(symptoms.size() == incident.symptoms);
      for (const Symptom& symptom : symptoms) RC_ASSERT(covered.insert(symptom.component).second);
    }
    RC_ASSERT(covered == wrong);
  }
  for (const std::string& thing : wrong) take(book.clear(failing(thing), now));
  for (int i = 0; i < 100 && book.next_change(); ++i) {
    now = std::max(now, *book.next_change());
    take(book.pass(now));
  }
  for (const auto& [id, open] : begun) RC_ASSERT(!open);
}

RC_GTEST_PROP(IncidentBookProperty, TheOrderOfWhatFailsDoesNotChangeTheCauses, ()) {
  const auto all = things();
  const auto chosen = *rc::gen::unique<std::vector<std::size_t>>(
      *rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange<std::size_t>(0, all.size()));
  const auto roots_after = [&](const std::vector<std::size_t>& order) {
    Book book(sample_graph());
    for (const std::size_t index : order) book.raise(failing(all[index]), kStart);
    std::set<std::string> roots;
    for (const auto& [id, incident] : book.incidents()) {
      if (incident.phase == Phase::kOpen) roots.insert(incident.root);
    }
    return roots;
  };
  auto other = chosen;
  std::ranges::reverse(other);
  RC_ASSERT(roots_after(chosen) == roots_after(other));
}

}  // namespace
}  // namespace wardmote::judge::incident
