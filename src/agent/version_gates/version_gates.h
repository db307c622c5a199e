#pragma once

#include <memory>
#include <string>
#include <vector>

#include "act/gate/gate_leader.h"
#include "act/gate/gate_node.h"
#include "act/gate/reconciler.h"
#include "config/version_gates.h"
#include "judge/version_gate/report.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/version_gates.h"
#include "store/store.h"

namespace wardmote::agent {

/// This node's part in the version gates of the configuration. Life cycle: start(), then stop()
/// before destruction; what it borrows outlives it. Thread: the core loop.
class VersionGates final : public serve::VersionGatesView {
 public:
  struct Self {
    std::string node;
    std::string boot;       ///< which start of the machine it is
    std::string pause_key;  ///< of the record that pauses everything, as `store` names it
  };
  /// `store` has the keys as the gates' layouts name them.
  VersionGates(runtime::Runtime& runtime, store::Store& store, const Self& self,
               const std::vector<config::VersionGate>& gates);

  void start();
  /// Ends what is written, and resigns. Registrations stay.
  runtime::Task<void> stop();

  // serve::VersionGatesView
  [[nodiscard]] std::vector<judge::version_gate::Report> gates() const override;

 private:
  struct Gate {
    std::unique_ptr<act::gate::GateNode> node;
    std::unique_ptr<act::gate::CommandReconciler> reconciler;  ///< null: this node never leads
    std::unique_ptr<act::gate::GateLeader> leader;             ///< null: it does not act
  };
  std::vector<Gate> gates_;
};

}  // namespace wardmote::agent
