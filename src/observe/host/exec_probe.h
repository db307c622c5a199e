#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/host/exec.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// A program and its exit code: for things without a probe of their own, and for every monitoring
/// plugin. The program runs without a shell in a process group of its own, and is killed with its
/// children at the deadline.
class ExecProbe final : public Probe {
 public:
  ExecProbe(runtime::Runtime& runtime, std::string subject, std::vector<std::string> argv,
            judge::ExitStyle style)
      : runtime_(runtime), subject_(std::move(subject)), argv_(std::move(argv)), style_(style) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  std::vector<std::string> argv_;
  judge::ExitStyle style_;
};

/// Parameters of the kind `exec`.
std::span<const ParamSpec> exec_params() noexcept;
Result<std::unique_ptr<Probe>> make_exec_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe
