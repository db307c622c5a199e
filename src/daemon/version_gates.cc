#include "daemon/version_gates.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/gate/gate_control.h"
#include "act/gate/gate_leader.h"
#include "act/gate/gate_node.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/files_target.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/options.h"
#include "act/reconcile/set_reconciler.h"
#include "act/reconcile/source.h"
#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "config/version_gates.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/report.h"
#include "runtime/file_tree.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::daemon {

using judge::version_gate::Report;
using runtime::Task;

namespace {

std::unique_ptr<act::reconcile::Target> make_target(runtime::Runtime& runtime,
                                                    const VersionGates::Needs& needs,
                                                    runtime::FileTree& files,
                                                    const config::Reconcile& wanted) {
  if (wanted.files)
    return std::make_unique<act::reconcile::FilesTarget>(runtime, files, *wanted.files);
  act::reconcile::KubeSetOptions options = *wanted.kubernetes;
  options.login.pod_server = needs.pod_server;
  return std::make_unique<act::reconcile::KubeTarget>(runtime, *needs.http, needs.lines, files,
                                                      std::move(options));
}

}  // namespace

VersionGates::VersionGates(runtime::Runtime& runtime, store::Store& store, const Self& self,
                           const Needs& needs, const std::vector<config::VersionGate>& gates)
    : runtime_(runtime), observers_(runtime.executor()) {
  for (const config::VersionGate& wanted : gates) {
    Gate gate;
    act::gate::NodeOptions node{.gate = wanted.name,
                                .layout = wanted.layout,
                                .self = {.node = self.node, .boot = self.boot},
                                .own = wanted.own,
                                .enroll = wanted.enroll};
    // Another program writes a boot id of its own making.
    if (!wanted.enroll) node.self.boot.clear();
    gate.node = std::make_unique<act::gate::GateNode>(runtime, store, std::move(node));
    gate.name = wanted.name;
    gate.control = std::make_unique<act::gate::GateControl>(
        runtime, store, *gate.node, [this] { return journal_ ? journal_() : nullptr; });
    if (wanted.reconcile && !wanted.reconcile->source) {
      gate.reconciler = std::make_unique<act::gate::CommandReconciler>(
          runtime, wanted.reconcile->command, wanted.reconcile->timeout);
    } else if (wanted.reconcile) {
      gate.files = needs.make_tree();
      act::reconcile::SourceOptions source = *wanted.reconcile->source;
      if (auto* const map = std::get_if<act::reconcile::ConfigMapOptions>(&source))
        map->login.pod_server = needs.pod_server;
      auto set = std::make_unique<act::reconcile::SetReconciler>(
          runtime, act::reconcile::make_source(runtime, *gate.files, needs.http, std::move(source)),
          make_target(runtime, needs, *gate.files, *wanted.reconcile),
          act::reconcile::SetOptions{
              .timeout = wanted.reconcile->timeout,
              .gate = wanted.name,
              .node = self.node,
              .journal = [this] { return journal_ ? journal_() : nullptr; }});
      gate.set = set.get();
      gate.reconciler = std::move(set);
      gate.every = wanted.timing.pass_every;
    }
    if (wanted.reconcile && wanted.reconcile->acts) {
      gate.leader = std::make_unique<act::gate::GateLeader>(
          runtime, store, *gate.node, *gate.reconciler,
          act::gate::LeaderOptions{
              .timing = wanted.timing, .ttl = wanted.ttl, .pause_key = self.pause_key});
    }
    gates_.push_back(std::move(gate));
  }
}

void VersionGates::start() {
  for (const Gate& gate : gates_) {
    gate.node->start();
    if (gate.leader) gate.leader->start();
    if (gate.set != nullptr && !gate.leader)
      observers_.spawn("reconcile observer", observe(&runtime_, gate.set, gate.every));
  }
}

Task<void> VersionGates::observe(runtime::Runtime* runtime, act::reconcile::SetReconciler* set,
                                 Duration every) {
  for (;;) {
    co_await set->look();
    co_await runtime->sleep_until(runtime->now() + every);
  }
}

Task<void> VersionGates::stop() {
  co_await observers_.stop();
  for (const Gate& gate : gates_) {
    if (gate.leader) co_await gate.leader->stop();
    if (gate.reconciler) co_await gate.reconciler->stop();
    co_await gate.control->stop();
    co_await gate.node->stop();
  }
}

template <class Call>
VersionGates::Written VersionGates::with(std::string_view gate, Call call) {
  const auto found = std::ranges::find(gates_, gate, &Gate::name);
  if (found == gates_.end())
    return fail(Errc::kMissing, "no version gate '{}'", escape_control(gate));
  return call(*found->control);
}

VersionGates::Written VersionGates::pause_gate(std::string_view gate, Duration time,
                                               std::string by) {
  return with(gate, [&](act::gate::GateControl& control) { return control.pause(time, by); });
}

VersionGates::Written VersionGates::resume_gate(std::string_view gate, std::string by) {
  const auto found = std::ranges::find(gates_, gate, &Gate::name);
  std::optional<judge::plan::Pause> everything;
  if (found != gates_.end() && found->leader && found->leader->all_paused())
    everything = found->leader->pause();
  return with(gate,
              [&](act::gate::GateControl& control) { return control.resume(by, everything); });
}

VersionGates::Written VersionGates::preserve(std::string_view gate,
                                             judge::version_gate::Release release, std::string by) {
  return with(gate, [&](act::gate::GateControl& control) { return control.preserve(release, by); });
}

VersionGates::Written VersionGates::finalize(std::string_view gate, std::string by) {
  return with(gate, [&](act::gate::GateControl& control) { return control.finalize(by); });
}

VersionGates::Written VersionGates::adopt(std::string_view gate, std::string object,
                                          std::string by) {
  const auto found = std::ranges::find(gates_, gate, &Gate::name);
  if (found == gates_.end())
    return fail(Errc::kMissing, "no version gate '{}'", escape_control(gate));
  if (found->set == nullptr || !found->leader)
    return fail(Errc::kRejected, "this node writes no objects for this gate");
  if (found->leader->leads()) return found->set->adopt(object, std::move(by));
  const auto candidates = found->node->report().candidates;
  return fail(Errc::kRejected, "this node does not lead; {}",
              candidates.empty()
                  ? std::string("nobody does")
                  : fmt::format("order it at {}", escape_control(candidates.front().node)));
}

VersionGates::Written VersionGates::forget_node(std::string_view gate, std::string node,
                                                std::string by) {
  return with(gate, [&](act::gate::GateControl& control) { return control.forget(node, by); });
}

void VersionGates::show_pass(const Gate& gate, Report& report) {
  // Of who leads no more the last pass says nothing of how things are.
  if (!gate.leader) {
    report.pass = gate.set->last();
  } else if (report.candidates.empty()) {
    report.last_pass = gate.set->last();
  } else if (gate.leader->leads()) {
    report.pass = gate.set->last_of(report.candidates.front().token);
  }
}

std::vector<Report> VersionGates::gates() const {
  std::vector<Report> reports;
  reports.reserve(gates_.size());
  for (const Gate& gate : gates_) {
    Report report = gate.node->report();
    if (gate.reconciler) {
      report.mode = gate.leader ? "act" : "observe";
      report.clearance = gate.node->clearance();
    }
    if (gate.leader) {
      if (const auto paused = gate.leader->pause()) report.paused_by = escape_control(paused->by);
      report.all_paused = gate.leader->all_paused();
    }
    if (gate.set != nullptr) report.under_way = gate.set->progress();
    if (gate.set != nullptr && gate.leader) report.tally = gate.set->tally();
    if (gate.set != nullptr) show_pass(gate, report);
    if (gate.leader && !report.complaint) report.complaint = gate.leader->complaint();
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace wardmote::daemon
