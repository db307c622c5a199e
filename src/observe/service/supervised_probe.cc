#include "observe/service/supervised_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "codec/s6.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/service/service.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/service/status_file.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::service {

using judge::ServiceFacts;
using judge::Supervisor;

namespace {

constexpr ParamSpec kService{
    "service", ParamType::kText, true,
    "folder of the service, or its name in svdir: /etc/service/bird, bird"};
constexpr ParamSpec kSvdir{"svdir", ParamType::kText, false,
                           "folder of the services (default: /etc/service for runit, /run/service "
                           "for s6, /service for daemontools)"};
constexpr ParamSpec kMinUptime{"min_uptime", ParamType::kDuration, false,
                               "unknown while the service is up for less (default: 2s)"};
constexpr ParamSpec kRestarts{"restarts", ParamType::kInteger, false,
                              "this many restarts are a crash loop (default: 3)"};
constexpr ParamSpec kWithin{"within", ParamType::kDuration, false,
                            "how long a restart counts (default: 60s)"};
constexpr ParamSpec kOtherNamespace{
    "other_pid_namespace", ParamType::kFlag, false,
    "the service runs in another pid namespace: do not look for its process"};
constexpr ParamSpec kCompat{"compat", ParamType::kText, false,
                            "calico: ok whenever `sv status` begins with `run`"};

constexpr auto kRunitParams = std::to_array<ParamSpec>(
    {kService, kSvdir, kMinUptime, kRestarts, kWithin, kOtherNamespace, kCompat});
constexpr auto kParams =
    std::to_array<ParamSpec>({kService, kSvdir, kMinUptime, kRestarts, kWithin, kOtherNamespace});

constexpr std::int64_t kMostRestarts = 1000;

std::string_view default_svdir(Supervisor supervisor) noexcept {
  switch (supervisor) {
    case Supervisor::kRunit: return "/etc/service";
    case Supervisor::kS6: return "/run/service";
    case Supervisor::kDaemontools: return "/service";
  }
  return "/etc/service";
}

/// A name is a single part of a path, so that it cannot lead elsewhere.
Result<std::string> folder_of(Supervisor supervisor, const Params& params) {
  const std::string service = *param<std::string>(params, "service");
  if (service.starts_with('/')) return path_param(params, "service");
  if (service.empty() || service == "." || service == ".." || service.contains('/')) {
    return fail(Errc::kInvalid, "service: '{}' is neither an absolute path nor a name",
                escape_control(service, 64));
  }
  Params whole = params;
  const auto svdir = param<std::string>(params, "svdir");
  whole["service"] =
      fmt::format("{}/{}", svdir.value_or(std::string(default_svdir(supervisor))), service);
  return path_param(whole, "service");
}

Result<std::unique_ptr<Probe>> make(Supervisor supervisor, runtime::Runtime& runtime,
                                    std::string subject, const Params& params) {
  ServiceTarget target;
  target.supervisor = supervisor;
  Result<std::string> folder = folder_of(supervisor, params);
  if (!folder) return std::unexpected(folder.error());
  target.folder = *std::move(folder);
  target.other_pid_namespace = param<bool>(params, "other_pid_namespace").value_or(false);
  judge::ServicePolicy& policy = target.policy;
  const auto restarts = integer_param(params, "restarts", 1, kMostRestarts,
                                      static_cast<std::int64_t>(policy.restarts));
  if (!restarts) return std::unexpected(restarts.error());
  policy.restarts = static_cast<std::size_t>(*restarts);
  policy.min_uptime = param<Duration>(params, "min_uptime").value_or(policy.min_uptime);
  policy.within = param<Duration>(params, "within").value_or(policy.within);
  if (const auto compat = param<std::string>(params, "compat")) {
    if (*compat != "calico")
      return fail(Errc::kInvalid, "compat: '{}' is not known, only calico",
                  escape_control(*compat, 64));
    policy.as_calico = true;
  }
  return std::make_unique<SupervisedProbe>(runtime, std::move(subject), std::move(target));
}

}  // namespace

Result<StatusRead> SupervisedProbe::read() {
  runtime::Files& files = runtime_.files();
  const WallTime now = runtime_.wall_now();
  Result<StatusRead> read = status_.read(files, now);
  if (!read || target_.other_pid_namespace || read->facts.pid == 0) return read;
  seek_process(read->facts);
  if (read->facts.process) return read;
  // The process may have ended between the two reads; by now the supervisor has written that.
  Result<StatusRead> again = status_.read(files, now);
  if (again && again->facts.pid != read->facts.pid && again->facts.pid != 0)
    seek_process(again->facts);
  if (again && again->facts.pid == read->facts.pid) again->facts.process_sought = true;
  return again;
}

void SupervisedProbe::seek_process(ServiceFacts& facts) {
  runtime::Files& files = runtime_.files();
  facts.process_sought = true;
  Result<codec::ProcStat> stat = process_.read(files, facts.pid);
  if (!stat) return;
  const Result<codec::ProcStat> parent = parent_.read(files, stat->parent);
  if (parent) {
    facts.parent_name = parent->name;
    facts.parent_state = parent->state;
  }
  facts.process = to_facts(*std::move(stat), runtime_.now());
}

void SupervisedProbe::count_restarts(const StatusRead& read, ServiceFacts& facts) {
  const Duration within = target_.policy.within;
  memory_.feed(facts.state, facts.want_up, read.changed, within, runtime_.now());
  facts.restarts = memory_.count();
  if (target_.supervisor != Supervisor::kS6 || !facts.want_up) return;
  const WallTime since = runtime_.wall_now() - within;
  const auto deaths = read_death_tally(runtime_.files(), target_.folder);
  const auto recent =
      std::ranges::count_if(deaths, [&](const codec::S6Death& death) { return death.at >= since; });
  facts.restarts = std::max(facts.restarts, static_cast<std::size_t>(recent));
}

runtime::Task<judge::Observation> SupervisedProbe::look(runtime::Deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<StatusRead> read = this->read();
  observation.ended = runtime_.now();
  if (!read) {
    observation.reason = reason_of(read.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  ServiceFacts& facts = read->facts;
  count_restarts(*read, facts);
  const char state = facts.process ? facts.process->state : '?';
  const Duration waiting = waiting_.feed(facts.pid, state, observation.begun);
  judge::Judgement judgement = judge_service(facts, target_.policy, waiting);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> runit_params() noexcept {
  return kRunitParams;
}
std::span<const ParamSpec> supervised_params() noexcept {
  return kParams;
}
Result<std::unique_ptr<Probe>> make_runit_probe(runtime::Runtime& runtime, std::string subject,
                                                const Params& params) {
  return make(Supervisor::kRunit, runtime, std::move(subject), params);
}
Result<std::unique_ptr<Probe>> make_s6_probe(runtime::Runtime& runtime, std::string subject,
                                             const Params& params) {
  return make(Supervisor::kS6, runtime, std::move(subject), params);
}
Result<std::unique_ptr<Probe>> make_daemontools_probe(runtime::Runtime& runtime,
                                                      std::string subject, const Params& params) {
  return make(Supervisor::kDaemontools, runtime, std::move(subject), params);
}

}  // namespace wardmote::observe::service
