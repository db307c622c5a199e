#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/board.h"
#include "agent/ovn/cluster_board.h"
#include "base/log.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "incidents/held_verdict.h"
#include "incidents/hold.h"
#include "serve/raft/cluster_view.h"
#include "support/logged.h"

namespace wardmote::agent::on_board {

using namespace std::chrono_literals;
using judge::Outcome;
using judge::ReasonCode;
using judge::Verdict;
using judge::raft::Assessment;
using judge::raft::Opinion;

inline constexpr TimePoint kStart{1000s};
inline constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

/// A cluster `nb` of two members, and a check `c`.
inline config::Config sample_config() {
  config::Config config;
  config::Cluster cluster;
  cluster.name = "nb";
  cluster.expectation.database = "OVN_Northbound";
  cluster.members = {{"a", {}, {}}, {"b", {}, {}}};
  cluster.schedule = {1s, 900ms, {.fall = 1, .rise = 1}, false};
  config.clusters.push_back(cluster);
  config.checks.push_back({cluster.name, {}, &config::cluster_kind(), {}, cluster.schedule, {}});
  config.checks.push_back({"c", {}, &kFakeKind, {}, {1s, 900ms, {.fall = 2, .rise = 1}, true}, {}});
  config.gates = {{"ready", {"nb", "c"}}, {"net", {"c"}}};
  return config;
}

class BoardTest : public ::testing::Test {
 protected:
  void look_at_check(Outcome outcome) {
    now_ += 1s;
    board_.check_observed(
        1, {"c", outcome, {ReasonCode::kRefused, "nobody listens"}, {}, now_, now_, {}}, now_);
  }

  static std::vector<Opinion> opinions(std::string_view leader = "77f0", std::uint64_t term = 1) {
    std::vector<Opinion> opinions(2);
    for (std::size_t i = 0; i < 2; ++i) {
      opinions[i].member = i == 0 ? "a" : "b";
      opinions[i].status_source.reason = {};
      opinions[i].local_source.reason = {};
      opinions[i].status.emplace();
      opinions[i].status->term = term;
      opinions[i].status->server_id = *judge::raft::parse_member_id(i == 0 ? leader : "b8af");
    }
    return opinions;
  }

  static Assessment verdict(Verdict verdict) {
    Assessment assessment;
    assessment.verdict = verdict;
    assessment.members.assign(2, {Outcome::kOk, {}});
    assessment.leader = 0;
    return assessment;
  }

  static Assessment critical() {
    Assessment assessment = verdict(Verdict::kCritical);
    judge::Finding finding;
    finding.code = judge::Code::kRaftMemberHung;
    finding.severity = judge::Severity::kCritical;
    finding.subjects = {"b"};
    finding.summary = "b is hung";
    assessment.findings.push_back(finding);
    return assessment;
  }

  void judge_cluster(Assessment assessment, bool final_of_round = true) {
    now_ += 1s;
    clusters_.cluster_judged(0, opinions(), std::move(assessment), now_, final_of_round);
  }

  const serve::ClusterView& shown() {
    return dynamic_cast<const serve::ClusterView&>(*view().things.at(0));
  }
  const serve::AgentView& view() { return board_.view(now_, WallTime(now_.time_since_epoch())); }
  const serve::CheckView& check(std::string_view name) {
    return *std::ranges::find(view().checks, name, &serve::CheckView::name);
  }
  const serve::GateView& gate(std::string_view name) {
    return *std::ranges::find(view().gates, name, &serve::GateView::name);
  }
  std::vector<std::string> failing(std::string_view name) {
    return serve::names_of(view().checks, gate(name).failing);
  }

  testing::Logged events_;
  TimePoint now_ = kStart;
  incidents::ChangeFeed feed_{[this] { return WallTime(now_.time_since_epoch()); }};
  Board board_{sample_config(), "ctl-1", feed_, kStart};
  std::optional<incidents::HeldVerdict> held_;
  int well_ = 0;
  bool let_go_ = true;
  ClusterBoard clusters_{board_,
                         feed_,
                         {.held = [this](const std::string&) { return held_; },
                          .seen_well =
                              [this](const std::string& cluster) {
                                EXPECT_EQ(cluster, "nb");
                                ++well_;
                                if (let_go_) held_.reset();
                              }}};

  void SetUp() override {
    clusters_.reload(sample_config(), config::plan_reload({}, sample_config()), kStart);
  }
};

}  // namespace wardmote::agent::on_board
