#include "unit/serve/sample_view.h"

#include <memory>
#include <string>
#include <utility>

#include "serve/bgp/mesh_view.h"

namespace wardmote::serve {
namespace {

using namespace std::chrono_literals;
using judge::raft::MemberId;
using judge::raft::Milliseconds;
using judge::raft::Opinion;
using judge::raft::PeerName;
using judge::raft::Role;

constexpr TimePoint kNow{1000s};
constexpr const char* kClusterId = "84d0b6ba-2d6f-4c4e-a1ab-9e5e6d1c2f3a";
constexpr const char* kServers[] = {"77f0aa11-0000-4000-8000-000000000001",
                                    "b8afbb22-0000-4000-8000-000000000002",
                                    "3c0bcc33-0000-4000-8000-000000000003"};

MemberId id(std::string_view text) {
  return *judge::raft::parse_member_id(text);
}

std::string address(std::size_t i) {
  return "tcp:10.0.0." + std::to_string(i + 1) + ":6643";
}

Opinion opinion(std::size_t i) {
  Opinion opinion;
  opinion.member = "ctl-" + std::to_string(i + 1);
  opinion.begun = kNow - 260ms;
  opinion.ended = kNow - 250ms;
  opinion.mode = judge::raft::Mode::kClustered;
  opinion.status_source.reason = {};
  opinion.local_source.reason = {};
  opinion.local = judge::raft::Local{i == 0, true, id(kClusterId), id(kServers[i]), 9030};

  judge::raft::Status status;
  status.nickname = std::string(kServers[i]).substr(0, 4);
  status.cluster_id = id(kClusterId);
  status.server_id = id(kServers[i]);
  status.address = address(i);
  status.standing = judge::raft::Standing::kMember;
  status.role = i == 0 ? Role::kLeader : Role::kFollower;
  status.term = 41;
  status.leader =
      i == 0 ? PeerName{PeerName::Kind::kSelf, ""} : PeerName{PeerName::Kind::kNamed, "77f0"};
  status.vote = status.leader;
  status.log_start = 8120;
  status.log_next = 9031;
  status.disconnections = 2;
  for (std::size_t j = 0; j < 3; ++j) {
    judge::raft::Server server;
    server.nickname = std::string(kServers[j]).substr(0, 4);
    server.id = id(server.nickname);
    server.address = address(j);
    server.self = i == j;
    if (i == 0) {
      server.next_index = 9031;
      server.match_index = 9030;
    }
    if (i != j) {
      server.last_message = Milliseconds(100);
      status.links.push_back({server.nickname, true, true});
      status.links.push_back({server.nickname, false, true});
    }
    status.servers.push_back(std::move(server));
  }
  opinion.status = std::move(status);
  return opinion;
}

}  // namespace

ClusterView sample_cluster() {
  ClusterView cluster("ovn-nb");
  cluster.expectation = {"OVN_Northbound", {address(0), address(1), address(2)}, 0};
  for (std::size_t i = 0; i < 3; ++i) cluster.opinions.push_back(opinion(i));
  cluster.assessment.verdict = judge::Verdict::kOk;
  cluster.assessment.members.assign(3, {judge::Outcome::kOk, {}});
  cluster.assessment.quorum = {3, 2, 3};
  cluster.assessment.leader = 0;
  cluster.judged = kNow - 200ms;
  cluster.every = 1s;
  cluster.counters.judgements = 7;
  cluster.counters.leader_transitions = 1;
  cluster.counters.elections = 2;
  cluster.counters.members.resize(3);
  cluster.counters.members[0].looks.add(400us);
  return cluster;
}

AgentView agent_with(ClusterView cluster) {
  AgentView agent = sample_agent();
  agent.things = {std::make_shared<ClusterView>(std::move(cluster))};
  return agent;
}

AgentView sample_agent() {
  CheckView check;
  check.name = "ovn-nb";
  check.kind = "cluster";
  check.state = judge::begin_check(kNow - 60s);
  check.state.state = judge::State::kHealthy;
  check.state.last = judge::Outcome::kOk;
  check.last_begun = kNow - 260ms;
  check.last_ended = kNow - 200ms;
  check.looks = 7;
  check.every = 1s;

  AgentView agent;
  agent.node = "ctl-1";
  agent.now = kNow;
  agent.wall_now = WallTime(1'800'000'000s);
  agent.started = kNow - 60s;
  agent.families = {&kClusterFamily, &kMeshFamily};
  agent.things.push_back(std::make_shared<ClusterView>(sample_cluster()));
  agent.checks.push_back(std::move(check));
  agent.gates.push_back({"ready", true, {}, {0}});
  return agent;
}

ClusterView cluster_with_a_hung_member() {
  ClusterView cluster = sample_cluster();
  Opinion& hung = cluster.opinions[2];
  const judge::Reason reason{judge::ReasonCode::kHung, "no answer in 900ms"};
  hung.status_source.reason = reason;
  hung.local_source.reason = reason;
  hung.status.reset();
  hung.local.reset();
  cluster.assessment.verdict = judge::Verdict::kCritical;
  cluster.assessment.members[2] = {judge::Outcome::kFail, reason};
  cluster.assessment.quorum.live = 2;
  judge::Finding finding;
  finding.code = judge::Code::kRaftMemberHung;
  finding.severity = judge::Severity::kCritical;
  finding.subjects = {"ctl-3", kServers[2], address(2)};
  finding.summary = "ctl-3 accepts connections and answers nothing.";
  finding.evidence = {{"ctl-1", "3c0b (3c0b at tcp:10.0.0.3:6643) last msg 4100 ms ago"}};
  finding.advice = judge::Advice{"Look at the process.", {"kill", "-CONT", "4711"}, "ctl-3"};
  finding.since = kNow - 4s;
  cluster.assessment.findings.push_back(std::move(finding));
  return cluster;
}

AgentView sample_agent_with_a_hung_member() {
  AgentView agent = agent_with(cluster_with_a_hung_member());
  agent.checks[0].state.state = judge::State::kReported;
  agent.checks[0].state.last = judge::Outcome::kFail;
  agent.checks[0].reason = {judge::ReasonCode::kState, "RAFT_MEMBER_HUNG"};
  agent.gates[0] = {"ready", false, {0}, {0}};
  return agent;
}

}  // namespace wardmote::serve
