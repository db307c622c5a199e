#include "observe/bird/bird_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/policy.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/service/service.h"
#include "observe/bgp_policy.h"
#include "observe/bird/client.h"
#include "observe/bird/convert.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/service/status_file.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

using judge::Observation;
using judge::Outcome;
using runtime::Endpoint;

namespace {

constexpr auto kOwnParams = std::to_array<ParamSpec>({
    {"socket", ParamType::kEndpoint, false,
     "control socket (default: /var/run/calico/bird.ctl, then /var/run/bird/bird.ctl; with family "
     "ipv6 bird6.ctl before each)"},
    {"brief", ParamType::kFlag, false,
     "send `show protocols` only: cheaper for a BIRD 1.6 with hundreds of peers, but without "
     "addresses, routes and last errors"},
    {"started_file", ParamType::kText, false,
     "file that is written when the node starts (Calico: /var/lib/calico/nodename); the window "
     "begins then (default: when the daemon starts)"},
    {"runit", ParamType::kText, false,
     "folder of the daemon's runit service: fail when another process holds the socket"},
});

/// By the wall clock, because files have timestamps of that clock. A timestamp in the future gives
/// no age.
Result<std::optional<Duration>> age_of_file(runtime::Runtime& runtime, const std::string& path) {
  const Result<runtime::FileInfo> info = runtime.files().info(path);
  if (!info) return with_context(info, "started_file {}", path);
  const Duration age = runtime.wall_now() - info->modified;
  if (age < Duration::zero()) return std::nullopt;
  return age;
}

}  // namespace

runtime::Task<Observation> BirdProbe::look(runtime::Deadline deadline) {
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
  judge::bgp::BgpFacts facts =
      to_facts(std::move(snapshot->status), std::move(snapshot->protocols));
  // `timeformat base` may be any format; the kernel also knows when the daemon started.
  if (!facts.up_for && seen.holder != 0) {
    const Result<codec::ProcStat> daemon = read_process(runtime_.files(), seen.holder);
    if (daemon && daemon->name.starts_with("bird"))
      facts.up_for = std::max(observation.ended - daemon->started, Duration::zero());
  }
  flaps_.count(facts, observation.ended);
  Result<std::optional<Duration>> started = facts.up_for;
  if (!started_file_.empty()) started = age_of_file(runtime_, started_file_);
  if (started) {
    judge::bgp::Verdict verdict = judge::bgp::judge(facts, policy_, *started);
    observation.outcome = verdict.outcome;
    observation.reason = std::move(verdict.reason);
  } else {
    observation.reason = reason_of(started.error());
    observation.outcome = outcome_of(observation.reason.code);
  }
  observation.facts = std::move(facts);
  if (!runit_.folder().empty()) judge_holder(seen.holder, observation);
  co_return observation;
}

/// An old daemon that did not end may still hold the socket, and answer for a new one that cannot
/// get it.
void BirdProbe::judge_holder(std::uint32_t holder, Observation& observation) {
  const auto judged = [&](Outcome outcome, judge::Reason reason) {
    observation.outcome = outcome;
    observation.reason = std::move(reason);
  };
  const auto status = runit_.read(runtime_.files(), runtime_.wall_now());
  if (!status) {
    judge::Reason reason = reason_of(status.error());
    return judged(Outcome::kUnknown, {reason.code, "runit: " + reason.text});
  }
  const std::uint32_t supervised = status->facts.pid;
  if (holder != 0 && holder == supervised) return;
  if (holder == 0) {
    return judged(Outcome::kUnknown, {judge::ReasonCode::kState,
                                      "the process that holds the control socket is not known (is "
                                      "it in another pid namespace?)"});
  }
  judged(Outcome::kFail,
         {judge::ReasonCode::kState,
          fmt::format("process {} holds the control socket, and runit's service {} is {}", holder,
                      runit_.folder(),
                      supervised == 0 ? "down" : fmt::format("process {}", supervised))});
}

std::vector<Endpoint> default_sockets(bool ipv6) {
  std::vector<Endpoint> sockets;
  for (const char* const folder : {"/var/run/calico/", "/var/run/bird/"}) {
    if (ipv6) sockets.push_back(Endpoint::unix_socket(std::string(folder) + "bird6.ctl"));
    sockets.push_back(Endpoint::unix_socket(std::string(folder) + "bird.ctl"));
  }
  return sockets;
}

std::span<const ParamSpec> bird_params() noexcept {
  static const std::vector<ParamSpec> kParams = [] {
    std::vector<ParamSpec> params(kOwnParams.begin(), kOwnParams.end());
    params.insert(params.end(), bgp_policy_params().begin(), bgp_policy_params().end());
    return params;
  }();
  return kParams;
}

Result<std::unique_ptr<Probe>> make_bird_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<judge::bgp::Policy> policy = read_bgp_policy(params);
  if (!policy) return std::unexpected(policy.error());
  Result<std::optional<Endpoint>> socket = unix_socket_param(params, "socket");
  if (!socket) return std::unexpected(socket.error());
  std::vector<Endpoint> at =
      *socket ? std::vector{**std::move(socket)} : default_sockets(policy->family == "ipv6");
  ClientOptions options;
  if (const auto brief = params.find("brief"); brief != params.end())
    options.detailed = !std::get<bool>(brief->second);
  std::string started_file;
  if (const auto file = params.find("started_file"); file != params.end())
    started_file = std::get<std::string>(file->second);
  std::string runit_service;
  if (params.contains("runit")) {
    Result<std::string> folder = path_param(params, "runit");
    if (!folder) return std::unexpected(folder.error());
    runit_service = *std::move(folder);
  }
  return std::make_unique<BirdProbe>(runtime, std::move(subject), std::move(at), options,
                                     *std::move(policy), std::move(started_file),
                                     std::move(runit_service));
}

}  // namespace wardmote::observe::bird
