#pragma once
// An incident book whose steps are kept whole.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/incident/book.h"

namespace wardmote::judge::incident {

inline constexpr TimePoint kStart{std::chrono::hours(10)};

/// A host that carries a daemon with two sessions and thirty files, and two thousand web servers.
inline Graph named_graph() {
  Graph graph;
  graph.add("cluster:nb", "cluster");
  for (const char* const name : {"a", "b"})
    graph.add(std::string("member:nb/") + name, "member", {"cluster:nb"});
  graph.add("check:host", "ping");
  graph.add("check:daemon", "bird", {"check:host"});
  graph.add("check:peer-1", "session", {"check:daemon"});
  graph.add("check:peer-2", "session", {"check:daemon"});
  for (int i = 0; i < 30; ++i) graph.add("check:file-" + std::to_string(i), "file", {"check:host"});
  for (int i = 0; i < 30; ++i) graph.add("check:lone-" + std::to_string(i), "file");
  graph.add("check:router", "tcp");
  for (int i = 0; i < 12; ++i)
    graph.add("check:behind-" + std::to_string(i), "tcp", {"check:router"});
  graph.add("check:beside-0", "tcp");
  graph.add("check:beside-1", "tcp");
  for (int i = 0; i < 2000; ++i) graph.add("check:web-" + std::to_string(i), "http");
  return graph;
}

inline Symptom failing(const std::string& thing, const std::string& why = "refused") {
  const std::string name = thing.substr(6);
  return {.owner = thing,
          .component = thing,
          .code = Code::kCheckFailed,
          .severity = Severity::kCritical,
          .names = {name},
          .summary = name + " fails: " + why,
          .since = kStart};
}

/// A finding of the cluster `nb`, which names a member or none.
inline Symptom finding(Code code, const std::string& member = "",
                       Severity severity = Severity::kCritical, TimePoint since = kStart) {
  const std::string thing = member.empty() ? "cluster:nb" : "member:nb/" + member;
  std::vector<std::string> names;
  if (!member.empty()) names.push_back(member);
  return {.owner = "cluster:nb",
          .component = thing,
          .code = code,
          .severity = severity,
          .names = names,
          .summary = std::string(to_string(code)) + member,
          .since = since};
}

class IncidentNames : public ::testing::Test {
 protected:
  void raise(const Symptom& symptom) { take(book_.raise(symptom, now_)); }
  void clear(const Symptom& symptom) { take(book_.clear(symptom, now_)); }
  void pass(Duration time) {
    now_ += time;
    take(book_.pass(now_));
  }
  void take(const Steps& steps) {
    for (const Step& step : steps) told_.push_back(step);
  }
  [[nodiscard]] const Incident& incident(std::int64_t id) const { return book_.incidents().at(id); }
  [[nodiscard]] std::vector<Incident> open() const {
    std::vector<Incident> open;
    for (const auto& [id, incident] : book_.incidents()) {
      if (incident.phase == Phase::kOpen) open.push_back(incident);
    }
    return open;
  }
  [[nodiscard]] Book restarted() const {
    std::vector<Incident> kept;
    for (const auto& [id, incident] : book_.incidents()) kept.push_back(incident);
    Book next(named_graph());
    next.recall(kept, now_);
    return next;
  }
  /// `count` of a kind, one after the other.
  void raise_many(const std::string& kind, int count) {
    for (int i = 0; i < count; ++i) {
      raise(failing("check:" + kind + "-" + std::to_string(i)));
      now_ += std::chrono::milliseconds(1);
    }
  }

  TimePoint now_ = kStart;
  Book book_{named_graph()};
  std::vector<Step> told_;
};

}  // namespace wardmote::judge::incident
