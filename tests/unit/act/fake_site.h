#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/plan/plan_runner.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair_view.h"
#include "judge/thing.h"

namespace wardmote::act {

inline judge::raft::MemberId id_of(std::string_view text) {
  return judge::raft::parse_member_id(text).value_or(judge::raft::MemberId{});
}

inline const std::string kOld = "11112222-0000-4000-8000-000000000003";
inline const std::string kNew = "aaaabbbb-0000-4000-8000-000000000009";

/// The servers, which outlive every agent: ctl-3 is down at first.
struct FakeSite {
  judge::raft::MemberId cluster_id;                        ///< not known: no member tells
  std::map<std::string, std::string, std::less<>> places;  ///< RepairCluster::places
  bool listed = true;                                      ///< the former server of ctl-3
  bool back = false;                                       ///< ctl-3 answers as that server
  bool joined = false;                                     ///< ctl-3 has begun anew
  bool other_ill = false;                                  ///< ctl-2 is not well
  TimePoint ill_since;
  TimePoint back_since;
  bool acts = true;  ///< the operator lets the agent act
  TimePoint forbidden_since;
  bool calm = false;  ///< commands do what they say
  int copies = 0;
  TimePoint copied_at;
  int kicks = 0;
  int rejoins = 0;

  [[nodiscard]] judge::raft::RepairView repair_view(TimePoint now) const {
    judge::raft::RepairView seen;
    seen.begun = now;
    seen.cluster_id = cluster_id;
    seen.leader = "ctl-1";
    seen.committed = 10;
    add(seen, "ctl-1", id_of("0001"), true);
    add(seen, "ctl-2", id_of("0002"), !other_ill);
    if (listed) add(seen, "ctl-3", id_of(kOld), back);
    if (joined) add(seen, "ctl-3", id_of(kNew), true);
    seen.servers.front().leads = true;
    seen.needed = seen.voters / 2 + 1;
    const bool answers = joined || back;
    judge::raft::MemberId id;
    if (answers) id = id_of(joined ? kNew : kOld);
    seen.members = {{"ctl-1", true, false, false, id_of("0001")},
                    {"ctl-2", !other_ill, false, other_ill, id_of("0002")},
                    {"ctl-3", answers, false, !answers, id}};
    return seen;
  }
  [[nodiscard]] std::shared_ptr<const judge::plan::Remedy> remedy(
      TimePoint now, std::string cluster = "ovn-nb") const {
    return std::make_shared<judge::raft::repair::RaftRemedy>(
        judge::raft::repair::RepairCluster{
            std::move(cluster), "OVN_Northbound", {"ctl-1", "ctl-2", "ctl-3"}, places},
        repair_view(now));
  }
  [[nodiscard]] std::vector<judge::Finding> findings(TimePoint since) const {
    if (joined || back) return {};
    judge::Finding down;
    down.code = judge::Code::kRaftMemberDown;
    down.subjects = {"ctl-3"};
    down.summary = "ctl-3 is down";
    down.since = since;
    return {down};
  }

 private:
  static void add(judge::raft::RepairView& seen, const std::string& name, judge::raft::MemberId id,
                  bool well) {
    judge::raft::RepairServer server;
    server.id = id;
    server.address = "tcp:" + name;
    server.member = name;
    server.answers = server.acknowledges = well;
    server.match_index = 10;
    // For longer than any finding stands.
    if (!well) server.silent_since = TimePoint{};
    seen.servers.push_back(std::move(server));
    ++seen.voters;
    seen.acknowledging += well ? 1 : 0;
  }
};

/// What a configuration says of plans.
struct FakeConfig {
  struct Cluster {
    std::string name;
  };
  std::vector<Cluster> clusters;
  std::vector<judge::plan::Policy> policies;

  [[nodiscard]] PlanRunner::Setup setup() const {
    PlanRunner::Setup setup{policies, {}};
    for (const Cluster& cluster : clusters)
      setup.targets.push_back({judge::ThingKind::kCluster, cluster.name});
    return setup;
  }
};

/// A policy that rebuilds the members of that cluster when somebody approves.
inline FakeConfig sample_config() {
  using namespace std::chrono_literals;
  FakeConfig config;
  config.clusters = {{"ovn-nb"}};
  judge::plan::Policy policy;
  policy.name = "rebuild";
  policy.on = {judge::Code::kRaftMemberDown};
  policy.act = true;
  policy.sole = true;
  policy.budget = 100;
  policy.cooldown = 0s;
  config.policies.push_back(std::move(policy));
  return config;
}

}  // namespace wardmote::act
