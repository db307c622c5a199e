#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/observation.h"
#include "judge/service/ovn_daemons.h"
#include "observe/kinds.h"
#include "observe/ovn/daemon_control.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

/// One ovn-northd: whether it is the active one, and connected to both databases.
class NorthdProbe final : public Probe {
 public:
  NorthdProbe(runtime::Runtime& runtime, std::string subject, std::string control,
              judge::NorthdPolicy policy)
      : runtime_(runtime),
        subject_(std::move(subject)),
        control_(runtime, std::move(control)),
        policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Task<Result<judge::NorthdFacts>> ask(runtime::Deadline deadline);
  runtime::Task<Result<std::optional<bool>>> connected(std::string command,
                                                       runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  std::string subject_;
  DaemonControl control_;
  judge::NorthdPolicy policy_;
};

/// Parameters of the kind `northd`.
std::span<const ParamSpec> northd_params() noexcept;
Result<std::unique_ptr<Probe>> make_northd_probe(runtime::Runtime& runtime, std::string subject,
                                                 const Params& params);

}  // namespace wardmote::observe::ovn
