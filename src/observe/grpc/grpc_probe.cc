#include "observe/grpc/grpc_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/tls.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/tls_params.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::observe::grpc {

using judge::GrpcFacts;
using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using runtime::Endpoint;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"address", ParamType::kEndpoint, true,
     "host and port, or a unix socket; `ssl:HOST:PORT` with TLS"},
    {"service", ParamType::kText, false, "ask for this service (default: for the whole server)"},
    {"authority", ParamType::kText, false, "the `:authority` of the call (default: the address)"},
    kTlsServerName,
    kTlsVerify,
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

constexpr std::size_t kLongestText = 255;

Result<std::string> text_param(const Params& params, const char* name, std::string otherwise) {
  std::string text = param<std::string>(params, name).value_or(std::move(otherwise));
  const bool printable = std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
  if (!printable || text.size() > kLongestText)
    return fail(Errc::kInvalid, "{}: '{}'", name, escape_control(text, 64));
  return text;
}

std::string default_authority(const Endpoint& at) {
  if (at.kind == Endpoint::Kind::kUnix) return "localhost";
  return at.host.contains(':') ? fmt::format("[{}]:{}", at.host, at.port)
                               : fmt::format("{}:{}", at.host, at.port);
}

/// Clients do not use a server whose certificate they do not trust, so it does not serve them.
Outcome outcome_of_failure(ReasonCode code) noexcept {
  return code == ReasonCode::kUntrusted ? Outcome::kFail : outcome_of(code);
}

}  // namespace

runtime::Task<Observation> GrpcProbe::look(runtime::Deadline deadline) {
  Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<GrpcFacts> facts = co_await client_.look(deadline);
  observation.ended = runtime_.now();
  observation.cost = client_.cost();
  if (!facts) {
    observation.reason = reason_of(facts.error());
    observation.outcome = outcome_of_failure(observation.reason.code);
    co_return observation;
  }
  judge::Judgement judgement = judge_grpc(*facts);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = *std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> grpc_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_grpc_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<Endpoint> at = runtime::parse_endpoint(*param<std::string>(params, "address"));
  if (!at) return with_context(at, "address");
  Result<std::string> service = text_param(params, "service", "");
  if (!service) return std::unexpected(service.error());
  Result<std::string> authority = text_param(params, "authority", default_authority(*at));
  if (!authority) return std::unexpected(authority.error());
  Result<runtime::TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  const Result<judge::TlsPolicy> policy = tls_policy(params);
  if (!policy) return std::unexpected(policy.error());
  if (at->kind == Endpoint::Kind::kTls) {
    settings->only_look = !policy->verify;
    settings->protocol = "h2";
    at = Endpoint::tls_over_tcp(at->host, at->port, *std::move(settings));
  } else if (*settings != runtime::TlsSettings{} || !policy->verify) {
    return fail(Errc::kInvalid, "tls_ca and its like are for ssl: addresses only");
  }
  return std::make_unique<GrpcProbe>(runtime, std::move(subject), *std::move(at),
                                     *std::move(authority), *std::move(service));
}

}  // namespace wardmote::observe::grpc
