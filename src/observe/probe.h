#pragma once

#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::observe {

/// One way to ask one subject. It only speaks the protocol: when and how often to probe, and what
/// follows, is decided elsewhere.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  /// Probes once. Always answers by `deadline`, never throws (cancellation aside); a failure is an
  /// outcome with a reason. One probe at a time.
  virtual runtime::Task<judge::Observation> look(runtime::Deadline deadline) = 0;
};

}  // namespace wardmote::observe
