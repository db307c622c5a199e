#pragma once
// An incident book, and what it tells.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/incident/book.h"

namespace wardmote::judge::incident {

inline constexpr TimePoint kStart{std::chrono::hours(10)};

/// A node with a daemon with two sessions, a cluster with two members, and fifty checks.
inline Graph sample_graph() {
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

inline Symptom failing(const std::string& thing, Severity severity = Severity::kCritical,
                       TimePoint since = kStart) {
  return {.owner = thing,
          .component = thing,
          .code = Code::kMonitorBlind,
          .severity = severity,
          .names = {thing},
          .summary = thing + " fails",
          .since = since};
}

inline Symptom member_down(const std::string& member) {
  return {.owner = "cluster:nb",
          .component = "member:nb/" + member,
          .code = Code::kRaftMemberDown,
          .severity = Severity::kWarning,
          .names = {member, "id-" + member},
          .summary = member + " is down",
          .since = kStart};
}

inline Symptom no_quorum() {
  return {.owner = "cluster:nb",
          .component = "cluster:nb",
          .code = Code::kRaftNoQuorum,
          .severity = Severity::kCritical,
          .names = {},
          .summary = "no quorum",
          .since = kStart};
}

class IncidentBook : public ::testing::Test {
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

}  // namespace wardmote::judge::incident
