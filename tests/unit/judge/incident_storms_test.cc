// Much at once is one incident with one cause, or a storm that is truthfully counted.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/incident/book.h"
#include "unit/judge/incident_names_fixture.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

class IncidentStorms : public IncidentNames {};

TEST_F(IncidentStorms, ManyUnderOneFailingHostAreItsIncidentAndNoStorm) {
  raise(failing("check:host", "unreachable"));
  raise_many("file", 30);
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(incident(1).root, "check:host");
  EXPECT_EQ(incident(1).summary, "host fails: unreachable");
  EXPECT_EQ(incident(1).symptoms, 31U);
  EXPECT_TRUE(book_.acts_frozen()) << "so much at once: nothing acts, whatever the cause";
}

TEST_F(IncidentStorms, AHostThatFailsLastTakesOverTheWholeStorm) {
  raise_many("file", 30);
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].root, "storm:file");
  EXPECT_EQ(open()[0].summary,
            "30 of 60 'file' checks fail at once; all of them depend on check:host; the first: "
            "file-0 fails: refused");
  raise(failing("check:host", "unreachable"));
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].root, "check:host");
  EXPECT_FALSE(open()[0].storm);
  EXPECT_EQ(open()[0].summary, "host fails: unreachable");
  EXPECT_EQ(open()[0].symptoms, 31U);
  raise(failing("check:lone-1"));
  EXPECT_EQ(open().size(), 2U) << "what the host does not carry is an incident of its own";
}

TEST_F(IncidentStorms, AHostThatExplainsAPartOfAStormTakesThatPart) {
  raise_many("file", 30);
  raise_many("lone", 30);
  raise(failing("check:host", "unreachable"));
  ASSERT_EQ(open().size(), 2U);
  EXPECT_TRUE(open()[0].summary.starts_with("30 of 60 'file' checks fail at once, 60 at the worst"))
      << open()[0].summary;
  EXPECT_EQ(open()[1].root, "check:host");
  EXPECT_EQ(open()[1].symptoms, 31U);
}

TEST_F(IncidentStorms, ACauseOfTheStormsOwnKindTakesItOver) {
  raise_many("behind", 12);
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].root, "storm:tcp");
  raise(failing("check:router", "unreachable"));
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].root, "check:router");
  EXPECT_FALSE(open()[0].storm);
  EXPECT_EQ(open()[0].summary, "router fails: unreachable");
  EXPECT_EQ(open()[0].symptoms, 13U);
  clear(failing("check:router"));
  for (int i = 0; i < 12; ++i) clear(failing("check:behind-" + std::to_string(i)));
  EXPECT_TRUE(open().empty()) << "all is good, and there was no storm";
}

TEST_F(IncidentStorms, TheCauseThatMakesTheNumberFullMakesNoStorm) {
  raise_many("behind", 4);
  raise(failing("check:router"));
  raise_many("behind", 12);
  ASSERT_EQ(open().size(), 1U);
  EXPECT_EQ(open()[0].root, "check:router");
}

TEST_F(IncidentStorms, WhatIsLeftOfAStormWhoseCauseShowsStandsAlone) {
  raise(failing("check:beside-0"));
  raise_many("behind", 12);
  raise(failing("check:beside-1"));
  ASSERT_EQ(open().size(), 1U);
  told_.clear();
  raise(failing("check:router"));
  ASSERT_EQ(open().size(), 3U);
  EXPECT_EQ(open()[0].root, "check:beside-0") << "the incident that it had";
  EXPECT_EQ(open()[0].id, 1);
  EXPECT_EQ(open()[0].summary, "beside-0 fails: refused");
  EXPECT_EQ(open()[1].root, "check:router");
  EXPECT_EQ(open()[1].symptoms, 13U);
  EXPECT_EQ(open()[2].summary, "beside-1 fails: refused");
  EXPECT_EQ(told_.back().incident.summary, "beside-1 fails: refused");
}

TEST_F(IncidentStorms, APartOfAThingIsNoThingMore) {
  Graph graph;
  for (int i = 0; i < 20; ++i) {
    graph.add("guest:web-" + std::to_string(i), "guest");
    graph.add_part("guest:web-" + std::to_string(i) + "/inside", "guest");
  }
  EXPECT_EQ(graph.population("guest"), 20U);
  book_ = Book(graph);
  const auto fail = [&](int number, const std::string& part) {
    Symptom symptom = failing("guest:web-" + std::to_string(number));
    symptom.component += part;
    raise(symptom);
  };
  // Three of twenty are less than the five that a storm begins with, however much is wrong with
  // each.
  for (int i = 0; i < 3; ++i) fail(i, "/inside");
  for (int i = 0; i < 3; ++i) fail(i, "");
  EXPECT_TRUE(std::ranges::none_of(open(), &Incident::storm));
  for (int i = 3; i < 7; ++i) fail(i, "");
  ASSERT_EQ(open().size(), 1U);
  EXPECT_TRUE(open()[0].storm);
  EXPECT_TRUE(open()[0].summary.starts_with("7 of 20 guests fail at once")) << open()[0].summary;
}

TEST_F(IncidentStorms, FiveThatFailOneAfterTheOtherAreNoStorm) {
  for (int i = 0; i < 10; ++i) {
    raise(failing("check:behind-" + std::to_string(i)));
    now_ += 1s;
    clear(failing("check:behind-" + std::to_string(i)));
    now_ += 1s;
  }
  EXPECT_FALSE(book_.acts_frozen());
  EXPECT_TRUE(std::ranges::none_of(told_, [](const Step& step) { return step.incident.storm; }));
}

TEST_F(IncidentStorms, WhatHasACauseMakesNoStormWithWhatHasNone) {
  raise(failing("check:router"));
  raise_many("behind", 12);
  raise(failing("check:beside-0"));
  ASSERT_EQ(open().size(), 2U);
  EXPECT_FALSE(open()[0].storm || open()[1].storm);
  // Also when the cause showed last.
  book_ = Book(named_graph());
  raise_many("behind", 3);
  raise(failing("check:router"));
  raise(failing("check:beside-0"));
  raise(failing("check:beside-1"));
  ASSERT_EQ(open().size(), 3U);
  EXPECT_TRUE(std::ranges::none_of(open(), &Incident::storm));
}

TEST_F(IncidentStorms, AStormOverARestartTakesItsOwnBackInAnyOrder) {
  raise_many("lone", 30);
  raise(failing("check:router"));
  raise(failing("check:behind-1"));
  raise_many("file", 3);
  raise(failing("check:peer-1"));
  Book next = restarted();
  std::vector<std::string> failed = {"check:behind-1", "check:file-2", "check:peer-1",
                                     "check:file-0",   "check:router", "check:file-1"};
  for (int i = 29; i >= 0; --i) failed.push_back("check:lone-" + std::to_string(i));
  for (const std::string& thing : failed) {
    Symptom symptom = failing(thing);
    EXPECT_TRUE(next.raise_again(symptom, now_).empty()) << thing;
  }
  for (const auto& [id, incident] : book_.incidents()) {
    EXPECT_EQ(next.incidents().at(id).root, incident.root);
    EXPECT_EQ(next.incidents().at(id).phase, incident.phase);
    EXPECT_EQ(next.incidents().at(id).symptoms, incident.symptoms) << incident.root;
    EXPECT_EQ(next.incidents().at(id).summary, incident.summary);
  }
  EXPECT_EQ(next.incidents().size(), book_.incidents().size());
}

TEST_F(IncidentStorms, AStormCountsTruthfully) {
  raise_many("web", 2000);
  ASSERT_EQ(open().size(), 1U);
  const std::string all =
      "2000 of 2000 'http' checks fail at once; the first: web-0 fails: refused";
  EXPECT_EQ(open()[0].summary, all);
  pass(*book_.next_change() - now_);
  EXPECT_EQ(told_.back().incident.summary, all) << "whoever heard of 21 hears the number";
  EXPECT_LE(told_.size(), 60U) << "and not of every single one";
  for (int i = 0; i < 2000; ++i) clear(failing("check:web-" + std::to_string(i)));
  pass(10min);
  EXPECT_EQ(told_.back().kind, StepKind::kResolved);
  EXPECT_EQ(told_.back().incident.summary,
            "2000 of 2000 'http' checks failed at once; the first: web-0 fails: refused");
}

TEST_F(IncidentStorms, AThingWithTwoSymptomsIsCountedOnce) {
  raise_many("web", 1000);
  Symptom blind = failing("check:web-0");
  blind.code = Code::kMonitorBlind;
  raise(blind);
  EXPECT_TRUE(open()[0].summary.starts_with("1000 of 2000 ")) << open()[0].summary;
}

TEST_F(IncidentStorms, AStormThatGoesIsToldWhenHalfOfItIsGone) {
  raise_many("web", 2000);
  pass(20s);
  told_.clear();
  for (int i = 0; i < 900; ++i) clear(failing("check:web-" + std::to_string(i)));
  pass(20s);
  std::erase_if(told_, [](const Step& step) { return step.incident.merged_into != 0; });
  EXPECT_TRUE(told_.empty());
  for (int i = 900; i < 1990; ++i) clear(failing("check:web-" + std::to_string(i)));
  pass(20s);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].incident.summary.starts_with("10 of 2000 ")) << told_[0].incident.summary;
}

TEST_F(IncidentStorms, AStormAndItsFreezeOutliveARestart) {
  raise_many("web", 2000);
  Book next = restarted();
  EXPECT_TRUE(next.acts_frozen());
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(next.raise(failing("check:web-" + std::to_string(i)), now_).empty())
        << "nothing is said anew";
  }
  std::size_t open = 0;
  for (const auto& [id, incident] : next.incidents()) open += incident.phase == Phase::kOpen;
  EXPECT_EQ(open, 1U);
  EXPECT_TRUE(next.incidents().rbegin()->second.summary.starts_with("2000 of 2000 "));
}

TEST_F(IncidentStorms, AStormOfWhichNothingFailsAnyMoreSaysSo) {
  raise_many("web", 30);
  for (int i = 0; i < 30; ++i) clear(failing("check:web-" + std::to_string(i)));
  ASSERT_EQ(open().size(), 1U) << "it may come back";
  EXPECT_EQ(open()[0].summary,
            "nothing of it fails now: it ends when nothing of its kind has begun to fail for a "
            "while; earlier: 30 of 2000 'http' checks failed at once; the first: web-0 "
            "fails: refused");
  raise(failing("check:web-3"));
  EXPECT_TRUE(
      open()[0].summary.starts_with("1 of 2000 'http' checks fail at once, 30 at the worst"))
      << open()[0].summary;
}

TEST_F(IncidentStorms, AStormThatGrowsOverARestartTellsItsNumber) {
  raise_many("web", 22);
  EXPECT_TRUE(std::ranges::any_of(told_, [](const Step& step) {
    return step.kind == StepKind::kOpened && step.incident.summary.starts_with("21 of ");
  }));
  Book next = restarted();
  Steps told;
  const auto take_next = [&](Steps steps) { std::ranges::move(steps, std::back_inserter(told)); };
  for (int i = 0; i < 50; ++i)
    take_next(next.raise(failing("check:web-" + std::to_string(i)), now_));
  ASSERT_EQ(told.size(), 1U) << "the doubling";
  EXPECT_TRUE(told[0].incident.summary.starts_with("42 of ")) << told[0].incident.summary;
  take_next(next.pass(now_ + 11s));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_TRUE(told[1].incident.summary.starts_with("50 of ")) << told[1].incident.summary;
}

TEST_F(IncidentStorms, AStormIsNotSaidToGoWhileARestartedAgentStillGathersIt) {
  raise_many("web", 100);
  pass(11s);
  Book next = restarted();
  EXPECT_TRUE(next.raise(failing("check:web-0"), now_).empty());
  EXPECT_TRUE(next.pass(now_ + 11s).empty()) << "the other 99 may only not be seen yet";
  const Steps told = next.pass(now_ + BookPolicy().settle);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].incident.summary.starts_with("1 of 2000 ")) << told[0].incident.summary;
}

/// Then there is nothing to gather, and what fails is new.
TEST_F(IncidentStorms, WhatFailsInAStormThatWasCalmAtTheRestartIsToldSoon) {
  raise_many("web", 30);
  for (int i = 0; i < 30; ++i) clear(failing("check:web-" + std::to_string(i)));
  Book next = restarted();
  EXPECT_TRUE(next.raise(failing("check:web-3"), now_).empty());
  const Steps told = next.pass(now_ + 11s);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].incident.summary.starts_with("1 of 2000 ")) << told[0].incident.summary;
}

}  // namespace
}  // namespace wardmote::judge::incident
