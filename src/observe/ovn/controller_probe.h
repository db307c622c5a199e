#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "judge/observation.h"
#include "judge/service/ovn_daemons.h"
#include "observe/kinds.h"
#include "observe/ovn/daemon_control.h"
#include "observe/ovn/ovsdb_client.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

/// The ovn-controller of this host: whether it follows the southbound database, and, where the
/// database is given, whether that serves others meanwhile.
class ControllerProbe final : public Probe {
 public:
  ControllerProbe(runtime::Runtime& runtime, std::string subject, std::string control,
                  std::optional<runtime::Endpoint> southbound);

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Task<Result<judge::ControllerFacts>> ask(runtime::Deadline deadline);
  runtime::Task<judge::SouthboundFacts> ask_database(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  std::string subject_;
  DaemonControl control_;
  std::unique_ptr<OvsdbClient> southbound_;
  judge::LossCounter losses_;
};

/// Parameters of the kind `ovn_controller`.
std::span<const ParamSpec> controller_params() noexcept;
Result<std::unique_ptr<Probe>> make_controller_probe(runtime::Runtime& runtime, std::string subject,
                                                     const Params& params);

}  // namespace wardmote::observe::ovn
