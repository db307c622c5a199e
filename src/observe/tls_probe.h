#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/endpoint/tls.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// Whether a server speaks TLS, and how long its certificate is valid: connects, does the
/// handshake, and closes.
class TlsProbe final : public Probe {
 public:
  /// `to` is an endpoint whose TLS settings only inspect.
  TlsProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint to,
           judge::TlsPolicy policy)
      : runtime_(runtime), subject_(std::move(subject)), to_(std::move(to)), policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  runtime::Endpoint to_;
  judge::TlsPolicy policy_;
};

/// Parameters of the kind `tls` (observe/kinds.h).
std::span<const ParamSpec> tls_params() noexcept;
Result<std::unique_ptr<Probe>> make_tls_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe
