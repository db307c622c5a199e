#include "agent/version_gates/version_gates.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "act/gate/gate_leader.h"
#include "act/gate/gate_node.h"
#include "act/gate/reconciler.h"
#include "config/version_gates.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/report.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::agent {

using judge::version_gate::Report;
using runtime::Task;

VersionGates::VersionGates(runtime::Runtime& runtime, store::Store& store, const Self& self,
                           const std::vector<config::VersionGate>& gates) {
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
    if (wanted.reconcile) {
      gate.reconciler = std::make_unique<act::gate::CommandReconciler>(
          runtime, wanted.reconcile->command, wanted.reconcile->timeout);
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
  }
}

Task<void> VersionGates::stop() {
  for (const Gate& gate : gates_) {
    if (gate.leader) co_await gate.leader->stop();
    co_await gate.node->stop();
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
    if (gate.leader && !report.complaint) report.complaint = gate.leader->complaint();
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace wardmote::agent
