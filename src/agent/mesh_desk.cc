#include "agent/mesh_desk.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/mesh.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/finding.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::bgp::MeshView;

class MeshProbe final : public observe::Probe {
 public:
  MeshProbe(MeshDesk& desk, std::string mesh) : desk_(desk), mesh_(std::move(mesh)) {}
  runtime::Task<Observation> look(runtime::Deadline) override { co_return desk_.judge(mesh_); }

 private:
  MeshDesk& desk_;
  std::string mesh_;
};

MeshView nothing_of(const std::string& check) {
  MeshView view;
  view.name = check;
  view.reason.code = ReasonCode::kNotProbed;
  view.unsure = true;
  return view;
}

serve::MeshView::Node node_of(const MeshView& view) {
  if (!view.facts) return {view.name, {}, {}, view.reason};
  return {view.name, view.facts->version, view.facts->router_id, {}};
}

/// Two looks at a member at least, so that both ends have been seen since one of them changed.
Duration settle_of(const config::Mesh& mesh, const config::Config& config) {
  Duration settle = mesh.expectation.settle;
  for (const config::Mesh::Member& member : mesh.members) {
    const auto check = std::ranges::find(config.checks, member.check, &config::Check::name);
    if (check != config.checks.end()) settle = std::max(settle, 2 * check->schedule.every);
  }
  return settle;
}

}  // namespace

void MeshDesk::reload(const config::Config& config, const ReloadPlan& plan) {
  auto before = std::exchange(meshes_, {});
  std::set<std::string> members;
  for (const config::Mesh& mesh : config.meshes) {
    Mesh& now = meshes_[mesh.name];
    if (const auto earlier = before.find(mesh.name);
        earlier != before.end() && earlier->second.config == mesh) {
      now.memory = std::move(earlier->second.memory);
    }
    now.config = mesh;
    now.settle = settle_of(mesh, config);
    for (const config::Mesh::Member& member : mesh.members) members.insert(member.check);
  }
  for (const std::string& ended : plan.ended) seen_.erase(ended);
  std::erase_if(seen_, [&](const auto& seen) { return !members.contains(seen.first); });
  for (const std::string& member : members) seen_.try_emplace(member, nothing_of(member));
}

void MeshDesk::hear(const std::string& check, const Observation& seen) {
  const auto member = seen_.find(check);
  if (member == seen_.end()) return;
  MeshView& view = member->second;
  view.begun = seen.begun;
  view.facts.reset();
  if (const auto* const facts = std::get_if<judge::bgp::BgpFacts>(&seen.facts)) {
    view.facts = *facts;
    // For the time when it tells nothing, and the others tell of it.
    view.addresses = judge::bgp::addresses_told(*facts);
  }
  view.reason = seen.reason;
  view.unsure = !view.facts && seen.outcome != Outcome::kFail;
}

Observation MeshDesk::judge(const std::string& name) {
  const TimePoint now = runtime_.now();
  Observation observation;
  observation.subject = name;
  observation.begun = observation.ended = now;
  const auto found = meshes_.find(name);
  if (found == meshes_.end()) {
    observation.reason = {ReasonCode::kMissing, "no such mesh"};
    return observation;
  }
  Mesh& mesh = found->second;
  std::vector<MeshView> views;
  std::vector<serve::MeshView::Node> nodes;
  for (const config::Mesh::Member& member : mesh.config.members) {
    const auto seen = seen_.find(member.check);
    MeshView view = seen == seen_.end() ? nothing_of(member.check) : seen->second;
    std::ranges::copy(member.addresses, std::back_inserter(view.addresses));
    nodes.push_back(node_of(view));
    views.push_back(std::move(view));
  }
  const judge::bgp::MeshExpectation expectation{mesh.config.expectation.full, mesh.settle};
  judge::bgp::MeshAssessment assessment = judge_mesh(views, expectation, mesh.memory, now);
  observation.outcome = assessment.outcome;
  const auto silent = std::ranges::find(views, true, &MeshView::unsure);
  if (!assessment.findings.empty()) {
    const judge::Finding& worst = assessment.findings.front();
    observation.reason = {ReasonCode::kState,
                          std::string(to_string(worst.code)) + ": " + worst.summary};
  } else if (silent != views.end()) {
    observation.reason = silent->reason;
    observation.reason.text = silent->name + ": " + silent->reason.text;
  } else if (assessment.outcome == Outcome::kUnknown) {
    observation.reason = views.front().reason;
  }
  board_.mesh_judged(name, std::move(nodes), std::move(assessment), now);
  return observation;
}

std::unique_ptr<observe::Probe> MeshDesk::probe(const config::Check& check) {
  return std::make_unique<MeshProbe>(*this, check.name);
}

}  // namespace wardmote::agent
