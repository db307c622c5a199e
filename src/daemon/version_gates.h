#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/gate/gate_control.h"
#include "act/gate/gate_leader.h"
#include "act/gate/gate_node.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/set_reconciler.h"
#include "base/time.h"
#include "config/version_gates.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/report.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/version_gates.h"
#include "store/store.h"

namespace wardmote::daemon {

/// This node's part in the version gates of the configuration. Life cycle: start(), then stop()
/// before destruction; what it borrows outlives it. Thread: the core loop.
class VersionGates final : public serve::VersionGatesView {
 public:
  struct Self {
    std::string node;
    std::string boot;       ///< which start of the machine it is
    std::string pause_key;  ///< of the record that pauses everything, as `store` names it
  };
  /// What sources and targets need of the world.
  struct Needs {
    runtime::HttpClient* http = nullptr;
    runtime::HttpLines* lines = nullptr;
    std::string pod_server{};  ///< of the cluster in which this is a pod; empty: it is none
    std::function<std::unique_ptr<runtime::FileTree>()> make_tree{};
  };
  /// `store` has the keys as the gates' layouts name them.
  VersionGates(runtime::Runtime& runtime, store::Store& store, const Self& self, const Needs& needs,
               const std::vector<config::VersionGate>& gates);

  /// What is written goes into this journal; before start().
  void journal_to(std::function<act::ActLog*()> journal) { journal_ = std::move(journal); }
  void start();
  /// Ends what is written, and resigns. Registrations stay.
  runtime::Task<void> stop();

  // serve::VersionGatesView
  [[nodiscard]] std::vector<judge::version_gate::Report> gates() const override;
  Written pause_gate(std::string_view gate, Duration time, std::string by) override;
  Written resume_gate(std::string_view gate, std::string by) override;
  Written preserve(std::string_view gate, judge::version_gate::Release release,
                   std::string by) override;
  Written finalize(std::string_view gate, std::string by) override;
  Written adopt(std::string_view gate, std::string object, std::string by) override;
  Written forget_node(std::string_view gate, std::string node, std::string by) override;

 private:
  struct Gate {
    std::string name;
    std::unique_ptr<act::gate::GateNode> node;
    std::unique_ptr<act::gate::GateControl> control;
    std::unique_ptr<runtime::FileTree> files;           ///< of a source and a target
    std::unique_ptr<act::gate::Reconciler> reconciler;  ///< null: this node never leads
    act::reconcile::SetReconciler* set = nullptr;       ///< the same; null: a program
    Duration every{};                                   ///< between two looks
    std::unique_ptr<act::gate::GateLeader> leader;      ///< null: it does not act
  };
  /// Gives the order to that gate.
  template <class Call>
  Written with(std::string_view gate, Call call);
  static void show_pass(const Gate& gate, judge::version_gate::Report& report);
  /// Shows what a pass would do, where nobody acts.
  static runtime::Task<void> observe(runtime::Runtime* runtime, act::reconcile::SetReconciler* set,
                                     Duration every);

  runtime::Runtime& runtime_;
  std::function<act::ActLog*()> journal_;
  std::vector<Gate> gates_;
  runtime::TaskGroup observers_;
};

}  // namespace wardmote::daemon
