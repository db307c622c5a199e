#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// What a TLS check asks of a server beyond a handshake.
struct TlsPolicy {
  bool verify = true;      ///< its certificate must be one that clients accept
  Duration warn_before{};  ///< so long before a certificate of its chain runs out
  Duration fail_before{};  ///< at most warn_before
};

/// What the facts of a handshake mean. Expired: fail with kExpired, whatever the policy. Not
/// trusted: fail with kUntrusted where the policy verifies. Soon to run out: kState.
struct TlsMeaning {
  judge::Outcome outcome = judge::Outcome::kUnknown;
  judge::Reason reason;
};
TlsMeaning meaning_of(const judge::TlsFacts& facts, const TlsPolicy& policy);

/// Whether a server speaks TLS, and for how long its certificate will be good: connects, shakes
/// hands, and closes.
class TlsProbe final : public Probe {
 public:
  /// `to` is an endpoint with TLS settings that only look.
  TlsProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint to, TlsPolicy policy)
      : runtime_(runtime), subject_(std::move(subject)), to_(std::move(to)), policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  runtime::Endpoint to_;
  TlsPolicy policy_;
};

/// Parameters of the kind `tls` (observe/kinds.h).
std::span<const ParamSpec> tls_params() noexcept;
Result<std::unique_ptr<Probe>> make_tls_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe
