#include "agent/bgp/mesh_watch.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "incidents/record_writer.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/mesh.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "serve/bgp/mesh_view.h"
#include "serve/thing_view.h"
#include "store/addresses_record.h"

namespace wardmote::agent {
namespace {

using incidents::Round;
using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::bgp::MeshView;

class MeshProbe final : public observe::Probe {
 public:
  MeshProbe(MeshWatch& watch, std::string mesh) : watch_(watch), mesh_(std::move(mesh)) {}
  runtime::Task<Observation> look(runtime::Deadline) override { co_return watch_.judge(mesh_); }

 private:
  MeshWatch& watch_;
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

/// All sessions of one daemon: what its check complains of when the daemon itself answers.
std::string sessions_node(const std::string& check) {
  return "sessions:" + check;
}

std::shared_ptr<serve::MeshView> not_judged(const config::Mesh& mesh, TimePoint now) {
  auto view = std::make_shared<serve::MeshView>(mesh.name);
  view->judged = now;
  for (const config::Mesh::Member& member : mesh.members)
    view->nodes.push_back({member.check, {}, {}, {ReasonCode::kNotProbed, {}}});
  return view;
}

}  // namespace

void MeshWatch::depend(const config::Config& config, judge::incident::Dependencies& known) {
  using judge::incident::check_node;
  std::map<std::string, std::vector<std::string>> sessions;  // by check
  known.listed["mesh"] = known.listed["session"] = "mesh";
  for (const config::Mesh& mesh : config.meshes) {
    judge::incident::CheckPlace& place = known.checks[mesh.name];
    place.owner = serve::mesh_node(mesh.name);
    place.has_findings = true;
    known.graph.add(place.owner, "mesh");
    for (const config::Mesh::Member& member : mesh.members)
      place.finds.push_back(check_node(member.check));
    for (std::size_t a = 0; a < mesh.members.size(); ++a) {
      for (std::size_t b = a + 1; b < mesh.members.size(); ++b) {
        const std::string& one = mesh.members[a].check;
        const std::string& other = mesh.members[b].check;
        const std::string session =
            serve::session_node(mesh.name, judge::bgp::pair_name(one, other));
        known.graph.add(session, "session", {check_node(one), check_node(other)});
        sessions[one].push_back(session);
        sessions[other].push_back(session);
      }
    }
  }
  for (auto& [check, above] : sessions) {
    above.push_back(check_node(check));
    known.checks[check].complains_of = sessions_node(check);
    known.graph.add(sessions_node(check), "sessions", std::move(above));
  }
}

runtime::Task<Result<void>> MeshWatch::recall() {
  const std::string prefix = store::addresses_prefix(node_);
  const auto records = co_await records_.load(prefix);
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, record] : *records)
    recalled_[key.substr(prefix.size())] = store::decode_addresses(record);
  co_return Result<void>();
}

Result<Domain::Adopt> MeshWatch::prepare(const config::Config&) {
  return [this](const config::Config& now, const config::ReloadPlan& plan) { adopt(now, plan); };
}

const observe::ProbeKind& MeshWatch::kind() const noexcept {
  return config::mesh_kind();
}

void MeshWatch::adopt(const config::Config& now, const config::ReloadPlan& plan) {
  auto before = std::exchange(meshes_, {});
  std::set<std::string> members;
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  for (const config::Mesh& config : now.meshes) {
    Mesh& mesh = meshes_[config.name];
    const auto earlier = before.find(config.name);
    const bool known = earlier != before.end();
    if (known && earlier->second.config == config) mesh.memory = std::move(earlier->second.memory);
    const auto check = std::ranges::find(now.checks, config.name, &config::Check::name);
    const auto index = static_cast<std::size_t>(check - now.checks.begin());
    const bool goes_on = known && plan.checks[index].action != config::ReloadAction::kBegun;
    mesh.shown = goes_on ? earlier->second.shown : begin(mesh, config);
    mesh.config = config;
    mesh.settle = settle_of(config, now);
    shown.push_back(mesh.shown);
    for (const config::Mesh::Member& member : config.members) members.insert(member.check);
  }
  forget(plan, members);
  for (const std::string& member : members) {
    const auto [view, fresh] = seen_.try_emplace(member, nothing_of(member));
    const auto known = recalled_.find(member);
    if (fresh && known != recalled_.end()) view->second.addresses = known->second;
  }
  recalled_.clear();
  board_.show(judge::bgp::kMeshKind, std::move(shown));
}

void MeshWatch::forget(const config::ReloadPlan& plan, const std::set<std::string>& members) {
  const auto drop = [this](const std::string& check) {
    records_.put(store::addresses_key(node_, check), std::nullopt);
  };
  for (const std::string& ended : plan.ended) {
    if (seen_.erase(ended) > 0) drop(ended);
  }
  const auto no_member = [&](const auto& known) {
    if (members.contains(known.first)) return false;
    drop(known.first);
    return true;
  };
  std::erase_if(seen_, no_member);
  std::erase_if(recalled_, no_member);
}

void MeshWatch::observed(const std::string& check, const Observation& seen) {
  const auto member = seen_.find(check);
  if (member == seen_.end()) return;
  MeshView& view = member->second;
  view.begun = seen.begun;
  view.facts.reset();
  if (const auto* const facts = std::get_if<judge::bgp::BgpFacts>(&seen.facts)) {
    view.facts = *facts;
    // For the time when it tells nothing, and the others tell of it.
    auto told = judge::bgp::addresses_told(*facts);
    if (told != view.addresses)
      records_.put(store::addresses_key(node_, check), store::encode_addresses(told));
    view.addresses = std::move(told);
  }
  view.reason = seen.reason;
  view.unsure = !view.facts && seen.outcome != Outcome::kFail;
}

std::shared_ptr<const serve::MeshView> MeshWatch::begin(Mesh& mesh, const config::Mesh& config) {
  const auto shown = not_judged(config, runtime_.now());
  hold_down(shown->assessment.outcome, mesh.hold.looked(holds_, config.name, Round::kPart));
  return shown;
}

/// What is wrong is seen at once; that nothing is, when every member was looked at anew.
Round MeshWatch::round_of(Mesh& mesh, const std::vector<MeshView>& views,
                          const judge::bgp::MeshAssessment& assessment, TimePoint now) {
  const bool clean =
      assessment.outcome == Outcome::kOk && assessment.mesh.problems.empty() &&
      assessment.findings.empty() && assessment.observed.empty() &&
      std::ranges::all_of(views, [](const MeshView& view) { return view.facts.has_value(); });
  if (!clean) return Round::kOther;
  const bool whole = std::ranges::all_of(
      views, [&](const MeshView& view) { return view.begun >= mesh.round_began; });
  if (!whole) return Round::kPart;
  mesh.round_began = now;
  return Round::kClean;
}

Observation MeshWatch::judge(const std::string& name) {
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
  const auto shown = std::make_shared<serve::MeshView>(name);
  for (const config::Mesh::Member& member : mesh.config.members) {
    const auto seen = seen_.find(member.check);
    MeshView view = seen == seen_.end() ? nothing_of(member.check) : seen->second;
    std::ranges::copy(member.addresses, std::back_inserter(view.addresses));
    shown->nodes.push_back(node_of(view));
    views.push_back(std::move(view));
  }
  const judge::bgp::MeshExpectation expectation{mesh.config.expectation.full, mesh.settle};
  judge::bgp::MeshAssessment assessment = judge_mesh(views, expectation, mesh.memory, now);
  const auto held = mesh.hold.looked(holds_, name, round_of(mesh, views, assessment, now));
  hold_down(assessment.outcome, held);
  observation.outcome = assessment.outcome;
  const auto silent = std::ranges::find(views, true, &MeshView::unsure);
  if (!assessment.findings.empty()) {
    const judge::Finding& worst = assessment.findings.front();
    observation.reason = {ReasonCode::kState,
                          std::string(to_string(worst.code)) + ": " + worst.summary};
  } else if (held) {
    observation.reason = held->reason;
  } else if (silent != views.end()) {
    observation.reason = silent->reason;
    observation.reason.text = silent->name + ": " + silent->reason.text;
  } else if (assessment.outcome == Outcome::kUnknown) {
    observation.reason = views.front().reason;
  }
  if (board_.doubt(observation, assessment.observed)) assessment.outcome = Outcome::kUnknown;
  shown->judged = now;
  shown->assessment = std::move(assessment);
  mesh.shown = shown;
  board_.judged(shown, now);
  return observation;
}

std::unique_ptr<observe::Probe> MeshWatch::probe(const config::Check& check) {
  return std::make_unique<MeshProbe>(*this, check.name);
}

}  // namespace wardmote::agent
