#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "codec/ovn_daemons.h"
#include "judge/host/process.h"
#include "judge/observation.h"
#include "judge/service/ovn_daemons.h"
#include "observe/kinds.h"
#include "observe/ovn/daemon_control.h"
#include "observe/ovn/rpc_client.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

/// The ovs-vswitchd of this host. It has no command that says how it is, so the probe looks at its
/// process, whether it answers at all, and whether it carries out what its database says.
class VswitchdProbe final : public Probe {
 public:
  struct Target {
    std::string pid_file;
    runtime::Endpoint ovsdb;
  };
  VswitchdProbe(runtime::Runtime& runtime, std::string subject, Target target,
                judge::VswitchdPolicy policy);

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Task<Result<judge::VswitchdFacts>> ask(runtime::Deadline deadline);
  runtime::Task<Result<codec::VswitchRow>> ask_database(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  std::string subject_;
  DaemonControl control_;
  RpcClient database_;
  judge::VswitchdPolicy policy_;
  judge::WaitingClock waiting_;
  judge::BehindClock behind_;
};

/// Parameters of the kind `vswitchd`.
std::span<const ParamSpec> vswitchd_params() noexcept;
Result<std::unique_ptr<Probe>> make_vswitchd_probe(runtime::Runtime& runtime, std::string subject,
                                                   const Params& params);

}  // namespace wardmote::observe::ovn
