#pragma once

#include "judge/notify/router.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::judge::notify {

using incident::Incident;
using incident::Phase;
using incident::StepKind;
using namespace std::chrono_literals;

inline constexpr TimePoint kStart{10h};
inline constexpr WallTime kWallStart{
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 20)};  // a Friday

inline RouterPolicy one_route() {
  RouterPolicy policy;
  policy.routes.push_back({.receiver = "oncall",
                           .match = {},
                           .group_by = {"root"},
                           .group_wait = 30s,
                           .group_interval = 5min,
                           .repeat_interval = 4h});
  return policy;
}

/// Incidents, and a receiver that says what it was told.
class RouterTest : public ::testing::Test {
 protected:
  void step(std::int64_t id, StepKind kind, const std::string& root = "") {
    Incident& incident = incidents_[id];
    incident.id = id;
    if (!root.empty()) incident.root = root;
    if (incident.root.empty()) incident.root = "r" + std::to_string(id);
    ++incident.revision;
    incident.phase = Phase::kOpen;
    if (kind == StepKind::kResolved) incident.phase = Phase::kResolved;
    if (kind == StepKind::kMerged) incident.phase = Phase::kMerged;
    incident.changed = now_;
    if (kind == StepKind::kMerged) incident.merged_into = 1;
    if (kind == StepKind::kAcknowledged) incident.acknowledged = {"ann", "", now_};
    router_.hear({kind, incident}, labels_of(incident), now_);
  }
  static Labels labels_of(const Incident& incident) {
    return {{"root", incident.root}, {"severity", "critical"}, {"code", "X"}};
  }
  std::vector<Notice> take() { return router_.take(muting_, now_, wall()); }
  [[nodiscard]] WallTime wall() const { return kWallStart + (now_ - kStart) + wall_offset_; }
  /// What is sent and delivered until then, as `number: kind id, …` and the time it took.
  std::vector<std::string> run(Duration time) {
    const TimePoint end = now_ + time;
    std::vector<std::string> said;
    for (int rounds = 0; rounds < 1000; ++rounds) {
      const auto due = router_.next_due();
      if (!due || *due > end) break;
      now_ = std::max(now_, *due);
      for (const Notice& notice : take()) {
        std::string line = std::to_string((now_ - kStart) / 1s) + "s";
        for (const NoticeItem& item : notice.items) {
          line += " " + std::string(to_string(item.kind)) + " " + std::to_string(item.incident.id);
        }
        said.push_back(line);
        router_.delivered(notice.group, notice.number, now_);
      }
    }
    now_ = end;
    return said;
  }

  using Said = std::vector<std::string>;
  TimePoint now_ = kStart;
  Duration wall_offset_{};
  Router router_{one_route()};
  Muting muting_{{}};
  std::map<std::int64_t, Incident> incidents_;
};

}  // namespace wardmote::judge::notify
