#include "observe/tls_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/endpoint/tls.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/tls_params.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::observe {

using judge::Outcome;
using judge::ReasonCode;
using runtime::Endpoint;
using runtime::TlsPeer;
using runtime::TlsSettings;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"address", ParamType::kEndpoint, true, "host and port, for example 10.0.0.1:6641"},
    kTlsServerName,
    kTlsVerify,
    kTlsWarnDays,
    kTlsFailDays,
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

/// A server that does not speak TLS where TLS is required does not serve.
Outcome outcome_of_failure(ReasonCode code) noexcept {
  return code == ReasonCode::kProtocol ? Outcome::kFail : outcome_of(code);
}

}  // namespace

runtime::Task<judge::Observation> TlsProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.cost.fresh_connection = true;
  observation.begun = runtime_.now();
  const auto stream = co_await runtime_.connect(to_, deadline);
  observation.ended = runtime_.now();
  const TlsPeer* const peer = stream ? (*stream)->tls_peer() : nullptr;
  if (peer == nullptr) {
    observation.reason = reason_of(stream ? Error{} : stream.error());
    observation.outcome = outcome_of_failure(observation.reason.code);
    co_return observation;
  }
  const Duration taken = observation.ended - observation.begun;
  judge::TlsFacts facts = tls_facts(*peer, taken, runtime_.wall_now());
  judge::Judgement meaning = judge_tls(facts, policy_);
  observation.outcome = meaning.outcome;
  observation.reason = std::move(meaning.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> tls_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_tls_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params) {
  Result<Endpoint> to = runtime::parse_endpoint(std::get<std::string>(params.at("address")));
  if (!to) return with_context(to, "address");
  if (to->kind == Endpoint::Kind::kUnix)
    return fail(Errc::kInvalid, "address: {} is not a TCP address", to_string(*to));
  Result<TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  const Result<judge::TlsPolicy> policy = tls_policy(params);
  if (!policy) return std::unexpected(policy.error());
  settings->only_look = true;
  Endpoint asked = Endpoint::tls_over_tcp(to->host, to->port, *std::move(settings));
  return std::make_unique<TlsProbe>(runtime, std::move(subject), std::move(asked), *policy);
}

}  // namespace wardmote::observe
