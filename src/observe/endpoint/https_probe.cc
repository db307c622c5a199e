#include "observe/endpoint/https_probe.h"

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/url.h"
#include "judge/endpoint/tls.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/endpoint/http_params.h"
#include "observe/endpoint/http_probe.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/tls_params.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::observe {

using judge::Outcome;
using runtime::Deadline;
using runtime::Stream;
using runtime::Task;

Task<Result<std::unique_ptr<Stream>>> HttpsProbe::dial(codec::Url url, Deadline deadline) {
  shown_.reset();
  const TimePoint begun = runtime_.now();
  const auto to = runtime::Endpoint::tls_over_tcp(url.host, url.port, settings_);
  auto stream = co_await runtime_.connect(to, deadline);
  if (!stream) co_return std::unexpected(stream.error());
  if (const runtime::TlsPeer* const peer = (*stream)->tls_peer())
    shown_ = tls_facts(*peer, runtime_.now() - begun, runtime_.wall_now());
  co_return stream;
}

Task<judge::Observation> HttpsProbe::look(Deadline deadline) {
  judge::Observation observation = co_await HttpProbe::look(deadline);
  // Clients do not use such a server, so it does not serve them.
  if (observation.reason.code == judge::ReasonCode::kUntrusted)
    observation.outcome = Outcome::kFail;
  if (!shown_) co_return observation;
  shown_->left = shown_->not_after - runtime_.wall_now();
  judge::Judgement certificate = judge_tls(*shown_, policy_);
  const bool worse = observation.outcome == Outcome::kOk || certificate.outcome == Outcome::kFail;
  if (worse && observation.outcome != Outcome::kFail && certificate.outcome != Outcome::kOk) {
    observation.outcome = certificate.outcome;
    observation.reason = std::move(certificate.reason);
  }
  co_return observation;
}

std::span<const ParamSpec> https_params() {
  static const std::vector<ParamSpec> kAll = [] {
    std::vector<ParamSpec> params(http_params().begin(), http_params().end());
    params.insert(params.end(), {kTlsServerName, kTlsVerify, kTlsWarnDays, kTlsFailDays, kTlsCa,
                                 kTlsCertificate, kTlsKey});
    return params;
  }();
  return kAll;
}

Result<std::unique_ptr<Probe>> make_https_probe(runtime::Runtime& runtime, std::string subject,
                                                const Params& params) {
  Result<HttpTarget> target = read_http_target(params);
  if (!target) return std::unexpected(target.error());
  if (target->url.scheme != "https")
    return fail(Errc::kInvalid, "url: {} has no TLS, take the kind http", to_string(target->url));
  Result<runtime::TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  const Result<judge::TlsPolicy> policy = tls_policy(params);
  if (!policy) return std::unexpected(policy.error());
  settings->only_look = !policy->verify;
  return std::make_unique<HttpsProbe>(runtime, std::move(subject), *std::move(target),
                                      *std::move(settings), *policy);
}

}  // namespace wardmote::observe
