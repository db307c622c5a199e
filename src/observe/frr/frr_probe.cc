#include "observe/frr/frr_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/policy.h"
#include "judge/observation.h"
#include "observe/bgp_policy.h"
#include "observe/frr/client.h"
#include "observe/frr/convert.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::frr {

using judge::Observation;
using runtime::Endpoint;

namespace {

constexpr auto kOwnParams = std::to_array<ParamSpec>({
    {"socket", ParamType::kEndpoint, false, "vty socket of bgpd (default: /var/run/frr/bgpd.vty)"},
    {"vrf", ParamType::kText, false, "one VRF by its name, `default` included (default: all)"},
});

/// The name becomes a word of a command. A VRF is a device, so its name has at most 15 bytes; FRR
/// accepts 36.
bool is_vrf_name(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 36;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._:-").contains(c);
  });
}

}  // namespace

runtime::Task<Observation> FrrProbe::look(runtime::Deadline deadline) {
  Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  SharedClient::Seen seen = co_await client_->look(deadline);
  observation.ended = runtime_.now();
  observation.cost = seen.cost;
  Result<Snapshot>& snapshot = seen.snapshot;
  if (!snapshot) {
    observation.reason = reason_of(snapshot.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::bgp::BgpFacts facts = to_facts(*std::move(snapshot));
  flaps_.count(facts, observation.ended);
  judge::bgp::Verdict verdict = judge::bgp::judge(facts, policy_, facts.up_for);
  observation.outcome = verdict.outcome;
  observation.reason = std::move(verdict.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> frr_params() noexcept {
  static const std::vector<ParamSpec> kParams = [] {
    std::vector<ParamSpec> params(kOwnParams.begin(), kOwnParams.end());
    params.insert(params.end(), bgp_policy_params().begin(), bgp_policy_params().end());
    return params;
  }();
  return kParams;
}

Result<std::unique_ptr<Probe>> make_frr_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params) {
  Result<judge::bgp::Policy> policy = read_bgp_policy(params);
  if (!policy) return std::unexpected(policy.error());
  const Result<std::optional<Endpoint>> socket = unix_socket_param(params, "socket");
  if (!socket) return std::unexpected(socket.error());
  Endpoint at = socket->value_or(Endpoint::unix_socket("/var/run/frr/bgpd.vty"));
  std::string vrf = param<std::string>(params, "vrf").value_or("all");
  if (!is_vrf_name(vrf))
    return fail(Errc::kInvalid, "vrf: '{}' is not a name of a VRF", escape_control(vrf, 64));
  return std::make_unique<FrrProbe>(runtime, std::move(subject), std::move(at), std::move(vrf),
                                    *std::move(policy));
}

}  // namespace wardmote::observe::frr
