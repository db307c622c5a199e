#include "agent/symptoms.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/outcome.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using judge::Code;
using judge::Severity;
using judge::incident::Graph;
using judge::incident::Symptom;

std::string cluster_thing(std::string_view name) {
  return fmt::format("cluster:{}", name);
}
std::string check_thing(std::string_view name) {
  return fmt::format("check:{}", name);
}
std::string member_thing(std::string_view cluster, std::string_view member) {
  return fmt::format("member:{}/{}", cluster, member);
}

/// The session between two nodes of a mesh.
std::string session_thing(std::string_view mesh, std::string_view pair) {
  return fmt::format("session:{}/{}", mesh, pair);
}
/// All sessions of one daemon: what its check complains of when the daemon itself answers.
std::string sessions_thing(std::string_view check) {
  return fmt::format("sessions:{}", check);
}

bool is_mesh(const config::Config& config, std::string_view name) {
  return std::ranges::find(config.meshes, name, &config::Mesh::name) != config.meshes.end();
}

bool in_a_mesh(const config::Config& config, std::string_view check) {
  return std::ranges::any_of(config.meshes, [&](const config::Mesh& mesh) {
    return std::ranges::find(mesh.members, check, &config::Mesh::Member::check) !=
           mesh.members.end();
  });
}

const config::Cluster* find_cluster(const config::Config& config, std::string_view name) {
  const auto found = std::ranges::find(config.clusters, name, &config::Cluster::name);
  return found == config.clusters.end() ? nullptr : &*found;
}

std::string text_of(const json::object& data, std::string_view key) {
  const json::value* const value = data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

json::object parse(const std::string& data) {
  boost::system::error_code broken;
  json::value value = json::parse(data, broken);
  return value.is_object() ? std::move(value.get_object()) : json::object();
}

/// A member where the finding names one, else the cluster.
std::string component_of(const judge::Finding& finding, std::string_view cluster,
                         const config::Config& config) {
  const config::Cluster* const known = find_cluster(config, cluster);
  if (known == nullptr) return cluster_thing(cluster);
  for (const config::Member& member : known->members) {
    if (std::ranges::find(finding.subjects, member.name) != finding.subjects.end()) {
      return member_thing(cluster, member.name);
    }
  }
  return cluster_thing(cluster);
}

/// Of a mesh: the check of the daemon that is down, else the session.
std::string component_in_mesh(const judge::Finding& finding, std::string_view mesh) {
  if (finding.subjects.empty()) return check_thing(mesh);
  const std::string& subject = finding.subjects.front();
  return finding.code == Code::kBgpDaemonDown ? check_thing(subject) : session_thing(mesh, subject);
}

std::optional<News> news_of_finding(const judge::Change& change, const config::Config& config) {
  const judge::Finding& finding = *change.finding;
  Symptom symptom;
  const bool mesh = change.scope == "mesh";
  symptom.owner = mesh ? check_thing(change.subject) : cluster_thing(change.subject);
  symptom.component = mesh ? component_in_mesh(finding, change.subject)
                           : component_of(finding, change.subject, config);
  symptom.code = finding.code;
  symptom.severity = finding.severity;
  symptom.names = finding.subjects;
  symptom.summary = finding.summary;
  symptom.since = finding.since;
  return News{std::move(symptom), change.kind != "finding_cleared"};
}

std::optional<News> news_of_check(const judge::Change& change, const config::Config& config,
                                  TimePoint now) {
  const json::object data = parse(change.data);
  const bool cluster = find_cluster(config, change.subject) != nullptr;
  const auto check = std::ranges::find(config.checks, change.subject, &config::Check::name);
  const bool optional = check != config.checks.end() && check->schedule.optional;
  Symptom symptom;
  symptom.owner = cluster ? cluster_thing(change.subject) : check_thing(change.subject);
  symptom.component = symptom.owner;
  const bool answered = text_of(data, "reason") == to_string(judge::ReasonCode::kState);
  if (answered && in_a_mesh(config, change.subject))
    symptom.component = sessions_thing(change.subject);
  symptom.names = {change.subject};
  symptom.since = now;
  std::string detail = text_of(data, "detail");
  if (detail.empty()) detail = text_of(data, "reason");
  if (change.kind == "check_changed") {
    // Their findings tell more.
    if (cluster || is_mesh(config, change.subject)) return std::nullopt;
    const std::string_view reported = to_string(judge::State::kReported);
    const std::string to = text_of(data, "to");
    const bool stands = to == reported;
    // What is over is said again after a reload, when the check does not know that it failed.
    if (!stands && to != to_string(judge::State::kHealthy)) return std::nullopt;
    symptom.code = Code::kCheckFailed;
    symptom.severity = optional ? Severity::kWarning : info(symptom.code).severity;
    symptom.summary = fmt::format("{} fails: {}", change.subject, detail);
    return News{std::move(symptom), stands};
  }
  if (change.kind == "check_overdue") {
    // What is optional may never come. After a restart this is how what still fails is seen again.
    if (cluster || optional || is_mesh(config, change.subject)) return std::nullopt;
    symptom.code = Code::kCheckFailed;
    symptom.severity = info(symptom.code).severity;
    symptom.summary =
        fmt::format("{} was not seen good since the agent's start: {}", change.subject, detail);
    return News{std::move(symptom), true};
  }
  const bool blind = change.kind == "check_blind";
  if (!blind && change.kind != "check_seen_again") return std::nullopt;
  symptom.code = Code::kMonitorBlind;
  symptom.severity = optional ? Severity::kWarning : info(symptom.code).severity;
  symptom.summary = fmt::format("nothing is known of {}: {}", change.subject, detail);
  return News{std::move(symptom), blind};
}

}  // namespace

Graph dependencies(const config::Config& config) {
  Graph graph;
  for (const config::Cluster& cluster : config.clusters) {
    graph.add(cluster_thing(cluster.name), "cluster");
    for (const config::Member& member : cluster.members) {
      graph.add(member_thing(cluster.name, member.name), "member", {cluster_thing(cluster.name)});
    }
  }
  for (const config::Check& check : config.checks) {
    std::vector<std::string> above;
    above.reserve(check.depends_on.size());
    for (const std::string& name : check.depends_on) {
      above.push_back(find_cluster(config, name) != nullptr ? cluster_thing(name)
                                                            : check_thing(name));
    }
    graph.add(check_thing(check.name), std::string(check.kind->name), std::move(above));
  }
  std::map<std::string, std::vector<std::string>> sessions;  // by check
  for (const config::Mesh& mesh : config.meshes) {
    for (std::size_t a = 0; a < mesh.members.size(); ++a) {
      for (std::size_t b = a + 1; b < mesh.members.size(); ++b) {
        const std::string& one = mesh.members[a].check;
        const std::string& other = mesh.members[b].check;
        const std::string session = session_thing(mesh.name, judge::bgp::pair_name(one, other));
        graph.add(session, "session", {check_thing(one), check_thing(other)});
        sessions[one].push_back(session);
        sessions[other].push_back(session);
      }
    }
  }
  for (auto& [check, above] : sessions) {
    above.push_back(check_thing(check));
    graph.add(sessions_thing(check), "sessions", std::move(above));
  }
  return graph;
}

std::vector<std::string> begun_anew(const config::Config& before, const config::Config& next,
                                    const ReloadPlan& plan) {
  std::vector<std::string> owners;
  for (const config::Cluster& cluster : before.clusters) {
    const auto at = std::ranges::find(next.clusters, cluster.name, &config::Cluster::name);
    const auto index = static_cast<std::size_t>(at - next.clusters.begin());
    const bool same = at != next.clusters.end() && plan.clusters[index].fate != Fate::kBegun;
    if (!same) owners.push_back(cluster_thing(cluster.name));
  }
  for (const config::Check& check : before.checks) {
    const auto at = std::ranges::find(next.checks, check.name, &config::Check::name);
    const auto index = static_cast<std::size_t>(at - next.checks.begin());
    const bool same = at != next.checks.end() && plan.checks[index].fate != Fate::kBegun;
    if (!same) owners.push_back(check_thing(check.name));
  }
  return owners;
}

judge::incident::BookPolicy book_policy(const config::Config& config) {
  judge::incident::BookPolicy policy;
  const auto consider = [&](const config::Schedule& schedule) {
    const Duration longest =
        std::max(schedule.policy.discovery_limit, schedule.policy.unknown_limit);
    policy.settle = std::max(policy.settle, longest + schedule.every * (schedule.policy.fall + 2));
  };
  for (const config::Cluster& cluster : config.clusters) consider(cluster.schedule);
  for (const config::Check& check : config.checks) consider(check.schedule);
  return policy;
}

std::optional<News> news_of(const judge::Change& change, const config::Config& config,
                            TimePoint now) {
  if (change.finding) return news_of_finding(change, config);
  if (change.scope == "check") return news_of_check(change, config, now);
  return std::nullopt;
}

}  // namespace wardmote::agent
