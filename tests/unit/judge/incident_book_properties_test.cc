// What holds of every story that a book can be told.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "judge/incident/book.h"
#include "unit/judge/incident_book_fixture.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;

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
  std::set<std::int64_t> merged;
  TimePoint now = kStart;
  const auto take = [&](const Steps& steps) {
    for (const Step& step : steps) {
      const std::int64_t id = step.incident.id;
      RC_ASSERT(step.incident.revision > revisions[id]);
      revisions[id] = step.incident.revision;
      if (step.kind == StepKind::kResolved) {
        RC_ASSERT(!wrong.contains(step.incident.root));
        if (merged.erase(id) > 0) continue;
      }
      if (step.kind == StepKind::kMerged) merged.insert(id);
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
        wrong.insert(thing);
        take(book.raise(failing(thing), now));
        break;
      case 2:
      case 3:
        wrong.erase(thing);
        take(book.clear(failing(thing), now));
        break;
      default: take(book.pass(now)); break;
    }
    std::set<std::string> covered;
    std::set<std::string> roots;
    for (const auto& [id, incident] : book.incidents()) {
      RC_ASSERT((incident.phase == Phase::kOpen) == begun[id]);
      RC_ASSERT((incident.phase == Phase::kMerged) == merged.contains(id));
      if (incident.phase != Phase::kOpen) continue;
      RC_ASSERT(roots.insert(incident.root).second);
      const auto symptoms = book.symptoms_of(id, 1000);
      RC_ASSERT(symptoms.size() == incident.symptoms);
      for (const Symptom& symptom : symptoms) RC_ASSERT(covered.insert(symptom.component).second);
    }
    RC_ASSERT(covered == wrong);
  }
  for (const std::string& thing : std::exchange(wrong, {})) take(book.clear(failing(thing), now));
  for (int i = 0; i < 100 && book.next_change(); ++i) {
    now = std::max(now, *book.next_change());
    take(book.pass(now));
  }
  for (const auto& [id, open] : begun) RC_ASSERT(!open);
  RC_ASSERT(merged.empty());
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
