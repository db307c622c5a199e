#include "observe/systemd/systemd_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/service/systemd.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/systemd/client.h"
#include "observe/systemd/convert.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::systemd {

using judge::Observation;
using judge::SystemdFacts;
using runtime::Endpoint;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"unit", ParamType::kText, true,
     "name of the unit; `.service` may be left out: bird, felix.service"},
    {"bus", ParamType::kEndpoint, false,
     "socket of the bus (default: /run/dbus/system_bus_socket), or systemd's own socket: "
     "/run/systemd/private"},
    {"min_uptime", ParamType::kDuration, false,
     "unknown while a service is up for less (default: 2s)"},
    {"restarts", ParamType::kInteger, false, "this many restarts are a crash loop (default: 3)"},
    {"within", ParamType::kDuration, false, "how long a restart counts (default: 60s)"},
    {"other_pid_namespace", ParamType::kFlag, false,
     "the agent runs in another pid namespace: do not look for the process"},
});

constexpr std::int64_t kMostRestarts = 1000;
/// UNIT_NAME_MAX of systemd.
constexpr std::size_t kLongestName = 255;
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.\\@";
constexpr std::array<std::string_view, 11> kSuffixes = {
    ".service", ".socket", ".target", ".device", ".mount", ".automount",
    ".swap",    ".timer",  ".path",   ".slice",  ".scope"};

Result<std::string> unit_param(const Params& params) {
  std::string unit = *param<std::string>(params, "unit");
  const bool has_suffix = std::ranges::any_of(
      kSuffixes, [&](std::string_view suffix) { return unit.ends_with(suffix); });
  if (!has_suffix) unit += ".service";
  const bool fits = unit.find_first_not_of(kNameCharacters) == std::string::npos;
  if (!fits || unit.starts_with('.') || unit.size() > kLongestName)
    return fail(Errc::kInvalid, "unit: '{}' is not a name of a unit", escape_control(unit, 64));
  return unit;
}

}  // namespace

void SystemdProbe::seek_process(SystemdFacts& facts) {
  if (target_.other_pid_namespace || facts.main_pid == 0) return;
  facts.process_sought = true;
  Result<codec::ProcStat> stat = read_process(runtime_.files(), facts.main_pid);
  if (stat) facts.process = observe::to_facts(*std::move(stat), runtime_.now());
}

runtime::Task<Observation> SystemdProbe::look(runtime::Deadline deadline) {
  Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  const Result<Snapshot> snapshot = co_await client_.look(deadline);
  observation.ended = runtime_.now();
  observation.cost = client_.cost();
  Result<SystemdFacts> facts = fail(Errc::kInternal, "nothing");
  if (snapshot) {
    facts = to_facts(*snapshot, runtime_.wall_now());
  } else {
    facts = std::unexpected(snapshot.error());
  }
  if (!facts) {
    observation.reason = reason_of(facts.error());
    // A bus that cannot be asked says nothing about the service.
    observation.outcome = judge::Outcome::kUnknown;
    co_return observation;
  }
  seek_process(*facts);
  const Duration within = target_.policy.within;
  facts->recent_restarts = restarts_.feed(facts->restarts, within, observation.ended);
  const char state = facts->process ? facts->process->state : '?';
  const Duration waiting = waiting_.feed(facts->main_pid, state, observation.begun);
  judge::Judgement judgement = judge_systemd(*facts, target_.policy, waiting);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = *std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> systemd_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_systemd_probe(runtime::Runtime& runtime, std::string subject,
                                                  const Params& params) {
  SystemdTarget target;
  Result<std::string> unit = unit_param(params);
  if (!unit) return std::unexpected(unit.error());
  target.unit = *std::move(unit);
  const Result<std::optional<Endpoint>> bus = unix_socket_param(params, "bus");
  if (!bus) return std::unexpected(bus.error());
  target.bus = bus->value_or(Endpoint::unix_socket("/run/dbus/system_bus_socket"));
  target.other_pid_namespace = param<bool>(params, "other_pid_namespace").value_or(false);
  judge::SystemdPolicy& policy = target.policy;
  const auto restarts = integer_param(params, "restarts", 1, kMostRestarts,
                                      static_cast<std::int64_t>(policy.restarts));
  if (!restarts) return std::unexpected(restarts.error());
  policy.restarts = static_cast<std::size_t>(*restarts);
  policy.min_uptime = param<Duration>(params, "min_uptime").value_or(policy.min_uptime);
  policy.within = param<Duration>(params, "within").value_or(policy.within);
  return std::make_unique<SystemdProbe>(runtime, std::move(subject), std::move(target));
}

}  // namespace wardmote::observe::systemd
