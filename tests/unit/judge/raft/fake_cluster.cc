#include "unit/judge/raft/fake_cluster.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/format.h"
#include "unit/judge/raft/well_told.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

// As printed by the servers of capture 01-healthy, then made up.
constexpr const char* kIds[] = {
    "dea645fa-f66d-419f-89d2-9ef5ed65767e", "499b257a-9bd2-4c64-91ea-a30aa618ef17",
    "1430fed6-ec54-4795-89a5-cf985d758750", "2e3dde73-c10d-493c-98ae-03173911ef81",
    "e830801b-24c6-49d9-abce-dd91f3476763", "736ef006-0c2f-4a09-9c89-6158fa4f8c9a",
    "6f136080-dcc0-4fc6-85a5-81dd539b1143", "c8c75cbc-6b51-4b08-a809-aa4abd81a373",
    "7b3a0000-dac6-4762-a00e-834c7c7479df",
};
constexpr const char* kClusterId = "b563dad3-5d5e-4b38-a150-859542fb32c9";
constexpr Milliseconds kHeartbeatAge{100};
/// Followers have not talked to each other since then, and it means nothing.
constexpr TimePoint kLastFollowersTalk = TimePoint(100h) - 30s;

MemberId id_of(const std::string& text) {
  return *parse_member_id(text);
}

MemberId digits_of(const MemberId& id) {
  return id_of(short_name(id));
}

}  // namespace

FakeCluster::FakeCluster(std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    add_node(fmt::format("ctl-{}", i + 1), kIds[i], fmt::format("tcp:10.0.0.{}:6643", i + 1));
    enlist(i);
  }
  if (!nodes_.empty()) nodes_.front().role = Role::kLeader;
}

std::size_t FakeCluster::add_node(std::string name, std::string id, std::string address) {
  Node node{.name = std::move(name), .id = id_of(id), .address = std::move(address)};
  node.cluster_id = id_of(kClusterId);
  node.follows = 0;
  if (!nodes_.empty()) node.term = nodes_.front().term;
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void FakeCluster::enlist(std::size_t i, Phase phase) {
  const Node& node = nodes_[i];
  strike(short_name(node.id));
  list_.push_back({.nickname = short_name(node.id),
                   .id = digits_of(node.id),
                   .address = node.address,
                   .phase = phase});
}

void FakeCluster::strike(std::size_t i) {
  strike(short_name(nodes_[i].id));
}

void FakeCluster::strike(const std::string& nickname) {
  std::erase_if(list_, [&](const Server& server) { return server.nickname == nickname; });
}

void FakeCluster::kill(std::size_t i, ReasonCode silence) {
  nodes_[i].silence = silence;
  isolate(i);
}

void FakeCluster::isolate(std::size_t i) {
  if (!nodes_[i].unheard_since) nodes_[i].unheard_since = now_;
}

void FakeCluster::heal(std::size_t i) {
  nodes_[i].silence = ReasonCode::kNone;
  nodes_[i].unheard_since.reset();
}

void FakeCluster::elect(std::size_t leader) {
  std::uint64_t term = 0;
  for (const Node& node : nodes_) term = std::max(term, node.term);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].unheard_since && i != leader) continue;
    nodes_[i].term = term + 1;
    nodes_[i].role = i == leader ? Role::kLeader : Role::kFollower;
    nodes_[i].follows = leader;
    ++nodes_[i].log_next;
  }
}

std::optional<std::size_t> FakeCluster::node_of(const Server& server) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (compatible(nodes_[i].id, server.id) && nodes_[i].address == server.address) return i;
  }
  return std::nullopt;
}

std::optional<Milliseconds> FakeCluster::age_between(std::size_t self, const Server& server) const {
  const std::optional<std::size_t> other = node_of(server);
  if (!other) return std::nullopt;
  const auto since = [&](TimePoint t) {
    return std::chrono::duration_cast<Milliseconds>(now_ - t) + kHeartbeatAge;
  };
  const bool leads = nodes_[self].role == Role::kLeader || nodes_[*other].role == Role::kLeader;
  if (!leads) return since(kLastFollowersTalk);
  if (nodes_[*other].unheard_since) return since(*nodes_[*other].unheard_since);
  if (nodes_[self].unheard_since) return since(*nodes_[self].unheard_since);
  return leads ? kHeartbeatAge : since(kLastFollowersTalk);
}

/// Where several are listed at one address, all others that live have a connection to the one that
/// answers.
std::vector<Link> FakeCluster::links_of(std::size_t self) const {
  const Node& node = nodes_[self];
  if (!node.links.empty() || !node.follows) return node.links;
  const auto listed_at = [&](const std::string& address) {
    return std::ranges::count(list_, address, &Server::address);
  };
  std::vector<Link> links;
  for (const Node& other : nodes_) {
    const bool runs = other.silence == ReasonCode::kNone || other.silence == ReasonCode::kDenied;
    if (!runs || other.unheard_since || other.address == node.address) continue;
    const std::string name = short_name(other.id);
    if (listed_at(node.address) > 1) links.push_back({name, false, true});
    if (listed_at(other.address) > 1) links.push_back({name, true, true});
  }
  return links;
}

Status FakeCluster::status_of(std::size_t self) const {
  const Node& node = nodes_[self];
  Status status;
  status.nickname = short_name(node.id);
  status.cluster_id = node.cluster_id;
  status.server_id = node.id;
  status.address = node.address;
  status.standing = node.standing;
  status.role = node.role;
  status.term = node.term;
  status.log_start = 2;
  status.log_next = node.log_next;
  status.uncommitted = node.uncommitted;
  if (node.election_begun)
    status.election_started = std::chrono::duration_cast<Milliseconds>(now_ - *node.election_begun);
  status.election_timer = node.election_timer;
  status.disconnections = node.disconnections;
  status.links = links_of(self);
  if (node.role == Role::kLeader) {
    status.leader.kind = PeerName::Kind::kSelf;
  } else if (node.role == Role::kFollower && node.follows) {
    status.leader = {PeerName::Kind::kNamed, short_name(nodes_[*node.follows].id)};
  }
  status.servers = node.own_list.value_or(list_);
  for (Server& server : status.servers) {
    server.self = compatible(server.id, node.id) && server.address == node.address;
    if (server.self) continue;
    server.last_message = age_between(self, server);
    if (node.role != Role::kLeader) continue;
    server.next_index = node.log_next;
    server.match_index =
        server.last_message == kHeartbeatAge ? node.log_next - 1 - node.uncommitted : 0;
  }
  return status;
}

Opinion FakeCluster::opinion_of(std::size_t i) const {
  const Node& node = nodes_[i];
  Opinion opinion;
  opinion.member = node.name;
  opinion.control_command = {"ovn-appctl", "-t", fmt::format("/run/ovn/{}.ctl", node.name)};
  opinion.begun = now_;
  opinion.ended = now_ + (node.silence == ReasonCode::kHung ? 900ms : 1ms);
  opinion.mode = node.mode;
  opinion.status_source.reason.code = node.silence;
  opinion.local_source.reason.code = node.silence;
  if (node.silence != ReasonCode::kNone) {
    if (node.mode == Mode::kClustered) opinion.mode = Mode::kUnknown;
    return opinion;
  }
  if (node.mode == Mode::kStandalone || node.mode == Mode::kRelay) {
    opinion.status_source.reason.code = ReasonCode::kNotClustered;
    opinion.local = Local{.leader = node.mode == Mode::kStandalone,
                          .connected = true,
                          .cluster_id = {},
                          .server_id = {},
                          .index = {}};
    return opinion;
  }
  const Status status = status_of(i);
  Local local{.leader = node.role == Role::kLeader,
              .connected = node.standing == Standing::kMember};
  local.cluster_id = node.cluster_id;
  local.server_id = node.id;
  if (node.standing != Standing::kJoining) local.index = status.applied_index();
  opinion.local = local;
  opinion.status_source.reason.code = node.status_silence;
  if (node.status_silence == ReasonCode::kNone) opinion.status = status;
  return opinion;
}

std::vector<Opinion> FakeCluster::opinions() const {
  std::vector<Opinion> all;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].configured) all.push_back(opinion_of(i));
  }
  return all;
}

Assessment FakeCluster::look() {
  std::vector<Opinion> all = opinions();
  if (edit) edit(all);
  TimePoint ended = now_;
  for (const Opinion& opinion : all) ended = std::max(ended, opinion.ended);
  memory_.set_elsewhere(elsewhere);
  Assessment assessment = assess(all, expectation, memory_, ended);
  expect_well_told(assessment, all, ended);
  return assessment;
}

RepairView FakeCluster::repair_view() const {
  std::vector<Opinion> all = opinions();
  if (edit) edit(all);
  TimePoint ended = now_;
  for (const Opinion& opinion : all) ended = std::max(ended, opinion.ended);
  return raft::repair_view(all, expectation, memory_, ended);
}

Assessment FakeCluster::watch(Duration time) {
  Assessment last;
  for (const TimePoint end = now_ + time; now_ < end;) {
    now_ += 1s;
    last = look();
  }
  return last;
}

std::vector<std::string> told(const Assessment& assessment) {
  std::vector<std::string> all;
  for (const Finding& finding : assessment.findings) {
    std::string line = fmt::format("{} {}", to_string(finding.severity), to_string(finding.code));
    if (!finding.subjects.empty()) line += " " + finding.subjects.front();
    all.push_back(std::move(line));
  }
  return all;
}

bool has(Code code, const Assessment& assessment) {
  return std::ranges::find(assessment.findings, code, &Finding::code) != assessment.findings.end();
}

Finding the(Code code, const Assessment& assessment) {
  static const Finding none;
  EXPECT_EQ(std::ranges::count(assessment.findings, code, &Finding::code), 1) << to_string(code);
  const auto found = std::ranges::find(assessment.findings, code, &Finding::code);
  return found == assessment.findings.end() ? none : *found;
}

}  // namespace wardmote::judge::raft
