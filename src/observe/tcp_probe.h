#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// Whether a server accepts connections at an address: connects and closes, without sending
/// anything.
class TcpProbe final : public Probe {
 public:
  TcpProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint to)
      : runtime_(runtime), subject_(std::move(subject)), to_(std::move(to)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  runtime::Endpoint to_;
};

/// Parameters of the kind `tcp` (observe/kinds.h).
std::span<const ParamSpec> tcp_params() noexcept;
Result<std::unique_ptr<Probe>> make_tcp_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe
