#include "serve/json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/value.hpp>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "base/version.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/mesh_json.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::raft::Link;
using judge::raft::MemberId;
using judge::raft::MemberVerdict;
using judge::raft::Opinion;
using judge::raft::Server;
using judge::raft::Status;
using judge::raft::Verdict;

constexpr std::size_t kNameCap = 128;
constexpr std::size_t kTextCap = 1024;

json::string text(std::string_view raw, std::size_t cap = kTextCap) {
  return json::string(escape_control(raw, cap));
}

json::string word(std::string_view ours) {
  return json::string(ours);
}

json::value text_or_null(std::string_view raw) {
  return raw.empty() ? json::value(nullptr) : json::value(text(raw));
}

json::value id_or_null(const MemberId& id) {
  return id.known() ? json::value(word(to_string(id))) : json::value(nullptr);
}

template <class T>
json::value number_or_null(const std::optional<T>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::value ms_or_null(const std::optional<judge::raft::Milliseconds>& time) {
  return time ? json::value(time->count()) : json::value(nullptr);
}

json::value code_or_null(const judge::Reason& reason) {
  if (reason.code == judge::ReasonCode::kNone) return nullptr;
  return word(to_string(reason.code));
}

json::string utc(TimePoint at, TimePoint now, WallTime wall_now) {
  return word(format_utc(wall_now - (now - at)));
}

template <class Range, class Convert>
json::array array_of(const Range& range, Convert convert) {
  json::array array;
  array.reserve(range.size());
  for (const auto& item : range) array.push_back(convert(item));
  return array;
}

json::array texts(const std::vector<std::string>& raw) {
  return array_of(raw, [](const std::string& one) { return json::value(text(one)); });
}

/// As cluster/status prints it.
json::string connection(const Link& link) {
  const std::string arrow = (link.outgoing ? "->" : "<-") + link.peer;
  return text(link.up ? arrow : "(" + arrow + ")", kNameCap);
}

json::object server(const Server& one) {
  json::object object;
  object["nickname"] = text(one.nickname, kNameCap);
  object["id"] = id_or_null(one.id);
  object["address"] = text_or_null(one.address);
  object["self"] = one.self;
  object["phase"] = text_or_null(to_string(one.phase));
  object["next_index"] = number_or_null(one.next_index);
  object["match_index"] = number_or_null(one.match_index);
  object["last_msg_ms"] = ms_or_null(one.last_message);
  return object;
}

void add_status(json::object& member, const Status& status) {
  member["address"] = text_or_null(status.address);
  member["role"] = word(to_string(status.role));
  member["term"] = status.term;
  member["leader"] = text(to_string(status.leader), kNameCap);
  member["vote"] = text(to_string(status.vote), kNameCap);
  member["log"] = json::array{status.log_start, status.log_next};
  member["uncommitted"] = status.uncommitted;
  member["unapplied"] = status.unapplied;
  member["status"] = word(to_string(status.standing));
  member["election_timer_ms"] = status.election_timer.count();
  member["connections"] =
      array_of(status.links, [](const Link& link) { return json::value(connection(link)); });
  member["servers"] =
      array_of(status.servers, [](const Server& one) { return json::value(server(one)); });
}

/// The keys of add_status() for a member whose cluster/status is not known.
void add_no_status(json::object& member, const Opinion& opinion) {
  for (const std::string_view key : {"address", "role", "term", "leader", "vote", "log",
                                     "uncommitted", "unapplied", "status", "election_timer_ms"}) {
    member[key] = nullptr;
  }
  if (opinion.local && opinion.local->leader) member["role"] = "leader";
  member["connections"] = json::array();
  member["servers"] = json::array();
}

bool never_looked(const Opinion& opinion) {
  const auto not_probed = judge::ReasonCode::kNotProbed;
  return opinion.status_source.reason.code == not_probed &&
         opinion.local_source.reason.code == not_probed;
}

json::object member(const Opinion& opinion, const MemberVerdict& verdict, TimePoint now) {
  json::object object;
  object["name"] = text(opinion.member, kNameCap);
  object["server_id"] = id_or_null(opinion.server_id());
  object["cluster_id"] = id_or_null(opinion.cluster_id());
  object["address"] = nullptr;
  object["outcome"] = word(to_string(verdict.outcome));
  object["reason"] = code_or_null(verdict.reason);
  object["detail"] = text_or_null(verdict.reason.text);
  object["mode"] = word(to_string(opinion.mode));
  if (opinion.status) {
    add_status(object, *opinion.status);
  } else {
    add_no_status(object, opinion);
  }
  object["connected"] =
      opinion.local ? json::value(opinion.local->connected) : json::value(nullptr);
  object["index"] = opinion.local ? number_or_null(opinion.local->index) : json::value(nullptr);
  object["age_ms"] =
      never_looked(opinion) ? json::value(nullptr) : json::value(to_ms(now - opinion.ended));
  return object;
}

json::value config_json(const AgentView& agent) {
  const ConfigView& config = agent.config;
  if (config.path.empty()) return nullptr;
  json::object object;
  object["path"] = text(config.path);
  object["hash"] = word(config.hash);
  object["applied"] = utc(config.applied, agent.now, agent.wall_now);
  object["reloads"] = config.reloads_applied;
  object["refused"] = nullptr;
  if (config.refused) {
    json::object refused;
    refused["at"] = utc(config.refused->at, agent.now, agent.wall_now);
    refused["problems"] = texts(config.refused->problems);
    object["refused"] = std::move(refused);
  }
  return object;
}

int badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return 0;
    case Verdict::kUnknown: return 1;
    case Verdict::kWarning: return 2;
    case Verdict::kCritical: return 3;
  }
  return 1;
}

Verdict verdict_of(const judge::CheckState& state) {
  switch (exit_code(state)) {
    case 0: return Verdict::kOk;
    case 1: return Verdict::kWarning;
    case 2: return Verdict::kCritical;
    default: return Verdict::kUnknown;
  }
}

}  // namespace

json::object to_json(const judge::Finding& finding, TimePoint now, WallTime wall_now) {
  json::object object;
  object["code"] = word(to_string(finding.code));
  object["severity"] = word(to_string(finding.severity));
  object["subjects"] = texts(finding.subjects);
  object["summary"] = text(finding.summary);
  object["evidence"] = array_of(finding.evidence, [](const judge::Evidence& one) {
    json::object evidence;
    evidence["by"] = text(one.by, kNameCap);
    evidence["says"] = text(one.says);
    return evidence;
  });
  object["advice"] = nullptr;
  if (finding.advice) {
    json::object advice;
    advice["text"] = text(finding.advice->text);
    advice["command"] = texts(finding.advice->command);
    advice["run_on"] = text_or_null(finding.advice->run_on);
    object["advice"] = std::move(advice);
  }
  object["since"] = utc(finding.since, now, wall_now);
  object["age_ms"] = to_ms(now - finding.since);
  return object;
}

json::array observed_json(const std::vector<judge::raft::Observed>& observed, TimePoint now,
                          WallTime wall_now) {
  return array_of(observed, [&](const judge::raft::Observed& one) {
    json::object object;
    object["code"] = word(to_string(one.code));
    object["subject"] = text(one.subject);
    object["since"] = utc(one.since, now, wall_now);
    object["due_ms"] = to_ms(one.due - now);
    return object;
  });
}

json::object to_json(const ClusterView& cluster, TimePoint now, WallTime wall_now) {
  const judge::raft::Assessment& assessment = cluster.assessment;
  json::object object;
  object["cluster"] = text(cluster.name, kNameCap);
  object["database"] = text(cluster.expectation.database, kNameCap);
  object["cluster_id"] = id_or_null(cluster_id_of(cluster));
  object["at"] = utc(cluster.judged, now, wall_now);
  object["verdict"] = word(to_string(assessment.verdict));
  object["leader"] = nullptr;
  if (assessment.leader)
    object["leader"] = text(cluster.opinions[*assessment.leader].member, kNameCap);
  json::object quorum;
  quorum["voters"] = assessment.quorum.voters;
  quorum["needed"] = assessment.quorum.needed;
  quorum["live"] = assessment.quorum.live;
  object["quorum"] = std::move(quorum);
  object["every_ms"] = to_ms(cluster.every);
  json::array members;
  for (std::size_t i = 0; i < cluster.opinions.size(); ++i) {
    const MemberVerdict not_judged{judge::Outcome::kUnknown, cluster.opinions[i].silence()};
    const bool judged = i < assessment.members.size();
    json::object one =
        member(cluster.opinions[i], judged ? assessment.members[i] : not_judged, now);
    const auto& counted = cluster.counters.members;
    one["looks"] = i < counted.size() ? counted[i].looks.total() : 0;
    members.push_back(std::move(one));
  }
  object["members"] = std::move(members);
  object["findings"] = array_of(assessment.findings, [&](const judge::Finding& finding) {
    return to_json(finding, now, wall_now);
  });
  object["observed"] = observed_json(assessment.observed, now, wall_now);
  return object;
}

json::object to_json(const CheckView& check, TimePoint now) {
  json::object object;
  object["name"] = text(check.name, kNameCap);
  object["kind"] = text(check.kind, kNameCap);
  object["state"] = word(to_string(check.state.state));
  object["outcome"] = word(to_string(check.state.last));
  object["reason"] = code_or_null(check.reason);
  object["detail"] = text_or_null(check.reason.text);
  object["degraded"] = check.state.degraded;
  object["blind"] = check.state.blind;
  object["overdue"] = check.state.overdue;
  object["optional"] = check.optional;
  object["failures"] = check.state.failures;
  object["fall"] = check.policy.fall;
  object["rise"] = check.policy.rise;
  object["exit_code"] = exit_code(check.state);
  object["since_ms"] = to_ms(now - check.state.since);
  const bool looked = check.looks > 0;
  object["age_ms"] = looked ? json::value(to_ms(now - check.last_ended)) : json::value(nullptr);
  object["took_ms"] =
      looked ? json::value(to_ms(check.last_ended - check.last_begun)) : json::value(nullptr);
  object["looks"] = check.looks;
  object["missed"] = check.missed;
  object["every_ms"] = to_ms(check.every);
  return object;
}

json::object to_json(const GateView& gate, const std::vector<CheckView>& checks) {
  json::object object;
  object["name"] = text(gate.name, kNameCap);
  object["ready"] = gate.ready;
  object["failing"] = texts(names_of(checks, gate.failing));
  return object;
}

json::object to_json(const AgentView& agent) {
  json::object object;
  object["node"] = text(agent.node, kNameCap);
  object["version"] = word(kVersion);
  object["at"] = word(format_utc(agent.wall_now));
  object["verdict"] = word(to_string(overall_verdict(agent)));
  object["last_event"] = word(agent.last_event);
  object["uptime_ms"] = to_ms(agent.now - agent.started);
  json::object self;
  self["degraded"] = agent.self.complaint.has_value();
  self["complaint"] = text_or_null(agent.self.complaint.value_or(""));
  object["self"] = std::move(self);
  object["config"] = config_json(agent);
  object["clusters"] = array_of(agent.clusters, [&](const ClusterView& cluster) {
    return to_json(cluster, agent.now, agent.wall_now);
  });
  object["meshes"] = array_of(
      agent.meshes, [&](const MeshView& mesh) { return to_json(mesh, agent.now, agent.wall_now); });
  object["checks"] =
      array_of(agent.checks, [&](const CheckView& check) { return to_json(check, agent.now); });
  object["gates"] =
      array_of(agent.gates, [&](const GateView& gate) { return to_json(gate, agent.checks); });
  return object;
}

Verdict overall_verdict(const AgentView& agent) {
  if (agent.clusters.empty() && agent.checks.empty()) return Verdict::kUnknown;
  Verdict worst = Verdict::kOk;
  const auto include = [&](Verdict verdict) {
    if (badness(verdict) > badness(worst)) worst = verdict;
  };
  for (const ClusterView& cluster : agent.clusters) include(cluster.assessment.verdict);
  for (const CheckView& check : agent.checks) include(verdict_of(check.state));
  return worst;
}

}  // namespace wardmote::serve
