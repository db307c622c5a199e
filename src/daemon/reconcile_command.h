#pragma once

#include <cstdint>
#include <string>

#include "act/reconcile/options.h"
#include "daemon/config_command.h"
#include "net/asio_runtime.h"

namespace wardmote::daemon {

enum class ReconcileVerb : std::uint8_t { kDiff, kApply, kStatus };

/// `wardmoted reconcile VERB FOLDER`.
struct ReconcileOrder {
  ReconcileVerb verb = ReconcileVerb::kDiff;
  std::string folder;
  act::reconcile::KubeSetOptions kubernetes;
  bool dry = false;  ///< of kApply: write nothing
  int timeout_seconds = 300;
};

/// One pass over the objects of a kube-apiserver, without a version gate: whoever runs it is the
/// one who may write. Exit codes: 0 all is as the folder says, or was made so; 1 something differs
/// (kDiff, kStatus, and kApply with `dry`); 2 an object failed, or something is not pruned; 65 the
/// manifests are wrong; 69 the server does not answer.
ConfigAnswer run_reconcile(net::AsioRuntime& runtime, const ReconcileOrder& order);

}  // namespace wardmote::daemon
