#include "observe/tcp_probe.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

using runtime::Endpoint;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"address", ParamType::kEndpoint, true,
     "host and port, for example 10.0.0.1:6643 or [fd00::1]:179"},
});

}  // namespace

runtime::Task<judge::Observation> TcpProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.cost.fresh_connection = true;
  observation.begun = runtime_.now();
  const Result<void> accepted = co_await runtime_.knock(to_, deadline);
  observation.ended = runtime_.now();
  if (accepted) {
    observation.outcome = judge::Outcome::kOk;
    observation.facts = judge::TcpFacts{observation.ended - observation.begun};
  } else {
    observation.reason = reason_of(connect_failure(to_, accepted.error()));
    observation.outcome = outcome_of(observation.reason.code);
  }
  co_return observation;
}

std::span<const ParamSpec> tcp_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_tcp_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params) {
  Result<Endpoint> to = runtime::parse_endpoint(std::get<std::string>(params.at("address")));
  if (!to) return with_context(to, "address");
  if (to->kind != Endpoint::Kind::kTcp) {
    return fail(Errc::kInvalid, "address: {} is not a TCP address", to_string(*to));
  }
  return std::make_unique<TcpProbe>(runtime, std::move(subject), *std::move(to));
}

}  // namespace wardmote::observe
