#include "observe/tls_probe.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
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
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::observe {

using judge::Outcome;
using judge::ReasonCode;
using judge::TlsFacts;
using runtime::Endpoint;
using runtime::TlsPeer;
using runtime::TlsSettings;

namespace {

constexpr std::int64_t kWarnDays = 14;
constexpr std::int64_t kMostDays = 3650;

constexpr auto kParams = std::to_array<ParamSpec>({
    {"address", ParamType::kEndpoint, true, "host and port, for example 10.0.0.1:6641"},
    {"server_name", ParamType::kText, false,
     "the name to ask for and to find in the certificate (default: the host of the address)"},
    {"verify", ParamType::kText, false,
     "name (the default), chain (any name will do) or none (only whether it has run out)"},
    {"warn_days", ParamType::kInteger, false,
     "warn when a certificate runs out within so many days (14)"},
    {"fail_days", ParamType::kInteger, false, "fail when it does so within so many days (0)"},
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

TlsFacts facts_of(const TlsPeer& peer, Duration handshake_time, WallTime now) {
  TlsFacts facts;
  facts.handshake_time = handshake_time;
  facts.version = peer.version;
  facts.cipher = peer.cipher;
  facts.subject = peer.subject;
  facts.issuer = peer.issuer;
  facts.names = peer.names;
  facts.not_after = peer.not_after;
  facts.first_to_expire = peer.first_to_expire;
  facts.left = peer.not_after - now;
  facts.trusted = peer.trusted;
  facts.distrust = peer.distrust.context;
  return facts;
}

/// Whoever does not speak TLS where TLS is asked for does not serve.
Outcome outcome_of_failure(ReasonCode code) noexcept {
  return code == ReasonCode::kProtocol ? Outcome::kFail : outcome_of(code);
}

std::string days(Duration time) {
  return fmt::format("{} days", std::chrono::duration_cast<std::chrono::days>(time).count());
}

Result<TlsPolicy> policy_of(const Params& params, TlsSettings& settings) {
  const Result<std::int64_t> warn = integer_param(params, "warn_days", 0, kMostDays, kWarnDays);
  if (!warn) return std::unexpected(warn.error());
  const Result<std::int64_t> fails = integer_param(params, "fail_days", 0, kMostDays, 0);
  if (!fails) return std::unexpected(fails.error());
  if (*fails > *warn)
    return fail(Errc::kInvalid, "fail_days: {} is more than warn_days ({})", *fails, *warn);
  const std::string verify = param<std::string>(params, "verify").value_or("name");
  if (verify != "name" && verify != "chain" && verify != "none")
    return fail(Errc::kInvalid, "verify: '{}' is none of name, chain, none",
                escape_control(verify, 64));
  settings.only_look = true;
  settings.trust =
      verify == "name" ? TlsSettings::Trust::kChainAndName : TlsSettings::Trust::kChain;
  settings.server_name = param<std::string>(params, "server_name").value_or("");
  return TlsPolicy{verify != "none", std::chrono::days(*warn), std::chrono::days(*fails)};
}

}  // namespace

TlsMeaning meaning_of(const TlsFacts& facts, const TlsPolicy& policy) {
  if (facts.subject.empty() && facts.not_after == WallTime())
    return {Outcome::kFail, {ReasonCode::kUntrusted, "it shows no certificate"}};
  const std::string whose = fmt::format("certificate '{}'", facts.first_to_expire);
  if (facts.left <= Duration::zero()) {
    return {Outcome::kFail,
            {ReasonCode::kExpired,
             fmt::format("{} has run out on {}", whose, format_utc(facts.not_after))}};
  }
  if (policy.verify && !facts.trusted)
    return {Outcome::kFail, {ReasonCode::kUntrusted, facts.distrust}};
  if (facts.left > policy.warn_before) return {Outcome::kOk, {}};
  const Outcome soon = facts.left <= policy.fail_before ? Outcome::kFail : Outcome::kWarn;
  return {soon,
          {ReasonCode::kState, fmt::format("{} runs out in {}, on {}", whose, days(facts.left),
                                           format_utc(facts.not_after))}};
}

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
  TlsFacts facts = facts_of(*peer, observation.ended - observation.begun, runtime_.wall_now());
  TlsMeaning meaning = meaning_of(facts, policy_);
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
    return fail(Errc::kInvalid, "address: {} is no TCP address", to_string(*to));
  Result<TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  const Result<TlsPolicy> policy = policy_of(params, *settings);
  if (!policy) return std::unexpected(policy.error());
  Endpoint asked = Endpoint::tls_over_tcp(to->host, to->port, *std::move(settings));
  return std::make_unique<TlsProbe>(runtime, std::move(subject), std::move(asked), *policy);
}

}  // namespace wardmote::observe
