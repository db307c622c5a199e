#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "act/gate/records.h"
#include "act/reconcile/options.h"
#include "base/time.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/status.h"

namespace wardmote::config {

/// What a node does for a version gate when it leads.
struct Reconcile {
  bool acts = false;                 ///< false: it shows what it would do
  std::vector<std::string> command;  ///< argv; empty: a source and a target instead
  std::optional<act::reconcile::SourceOptions> source{};
  /// The target: one of these.
  std::optional<act::reconcile::KubeSetOptions> kubernetes{};
  std::optional<act::reconcile::FilesOptions> files{};
  Duration timeout = std::chrono::minutes(5);
  /// How long a write may still arrive after the command was killed.
  Duration write_deadline = std::chrono::seconds(1);
  friend bool operator==(const Reconcile&, const Reconcile&) = default;
};

/// A version gate and this node's part in it. The product makes sense, and a leader waits no less
/// than one that is gone may go on to write.
struct VersionGate {
  std::string name;
  judge::version_gate::Product own;
  act::gate::Layout layout;
  bool enroll = true;  ///< this agent writes the registration of its node
  std::optional<Reconcile> reconcile;
  judge::version_gate::Timing timing;
  Duration ttl = std::chrono::seconds(6);  ///< of the leader's lease
  friend bool operator==(const VersionGate&, const VersionGate&) = default;
};

}  // namespace wardmote::config
