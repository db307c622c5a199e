#include "observe/etcd/etcd_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/judgement.h"
#include "judge/observation.h"
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

namespace wardmote::observe::etcd {

using runtime::Endpoint;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"endpoint", ParamType::kEndpoint, true,
     "client address of the member: 10.0.0.1:2379, or ssl:10.0.0.1:2379 with TLS"},
    {"quota", ParamType::kText, false,
     "warn when the database has 80 % of this size: 2GiB (etcd before 3.6 does not say its quota)"},
    kTlsServerName,
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

}  // namespace

runtime::Task<judge::Observation> EtcdProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<judge::etcd::MemberFacts> facts = co_await client_.look(deadline);
  observation.ended = runtime_.now();
  observation.cost = client_.cost();
  if (!facts) {
    observation.reason = reason_of(facts.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::Judgement judgement = judge::etcd::judge_member(*facts, quota_);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  judge::etcd::MemberView view{
      .name = subject_, .begun = observation.begun, .ended = observation.ended};
  view.facts = *std::move(facts);
  observation.facts = judge::etcd::opinion_of(view);
  co_return observation;
}

std::span<const ParamSpec> etcd_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_etcd_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<Endpoint> at = runtime::parse_endpoint(*param<std::string>(params, "endpoint"));
  if (!at) return with_context(at, "endpoint");
  const auto quota = bytes_param(params, "quota");
  if (!quota) return std::unexpected(quota.error());
  Result<runtime::TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  if (at->kind == Endpoint::Kind::kTls) {
    settings->protocol = "h2";
    at = Endpoint::tls_over_tcp(at->host, at->port, *std::move(settings));
  } else if (*settings != runtime::TlsSettings{}) {
    return fail(Errc::kInvalid, "tls_ca and its like are for ssl: addresses only");
  }
  return std::make_unique<EtcdProbe>(runtime, std::move(subject), *std::move(at), *quota);
}

}  // namespace wardmote::observe::etcd
