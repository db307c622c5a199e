#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// The process of a pid file, or all processes of a program: how many, how old, and in which state.
class ProcessProbe final : public Probe {
 public:
  /// `program`: a pid file when it begins with a slash, otherwise the name of a program.
  ProcessProbe(runtime::Runtime& runtime, std::string subject, std::string program,
               judge::ProcessPolicy policy)
      : runtime_(runtime),
        subject_(std::move(subject)),
        program_(std::move(program)),
        policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  [[nodiscard]] Result<std::vector<codec::ProcStat>> find() const;
  [[nodiscard]] judge::ProcessListFacts facts_of(std::vector<codec::ProcStat> found) const;

  runtime::Runtime& runtime_;
  std::string subject_;
  std::string program_;
  judge::ProcessPolicy policy_;
  judge::WaitingClock waiting_;
};

/// Parameters of the kind `process`.
std::span<const ParamSpec> process_params() noexcept;
Result<std::unique_ptr<Probe>> make_process_probe(runtime::Runtime& runtime, std::string subject,
                                                  const Params& params);

}  // namespace wardmote::observe
