#include "observe/ovn/vswitchd_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "codec/ovn_daemons.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/service/ovn_daemons.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/ovn/daemon_control.h"
#include "observe/ovn/rpc_client.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"pid_file", ParamType::kText, false,
     "pid file of ovs-vswitchd (default: /run/openvswitch/ovs-vswitchd.pid)"},
    {"ovsdb", ParamType::kEndpoint, false,
     "socket of its database (default: /run/openvswitch/db.sock)"},
    {"behind", ParamType::kDuration, false,
     "fail when a change of the configuration is not in force after this time (default: 10s)"},
});

}  // namespace

VswitchdProbe::VswitchdProbe(runtime::Runtime& runtime, std::string subject, Target target,
                             judge::VswitchdPolicy policy)
    : runtime_(runtime),
      subject_(std::move(subject)),
      control_(runtime, std::move(target.pid_file)),
      database_(runtime, std::move(target.ovsdb), RpcOptions()),
      policy_(policy) {}

runtime::Task<Result<codec::VswitchRow>> VswitchdProbe::ask_database(runtime::Deadline deadline) {
  database_.prepare("transact", codec::select_vswitch());
  const Result<void> sent = co_await database_.send(deadline);
  if (!sent) co_return with_context(sent, "its database");
  const Result<codec::RpcMessage> reply = co_await database_.receive(deadline);
  if (!reply) co_return with_context(reply, "its database");
  Result<std::optional<codec::VswitchRow>> row = codec::read_vswitch(*reply);
  database_.rest();
  if (!row) co_return with_context(row, "its database");
  if (!*row) co_return fail(Errc::kMissing, "its database has no row Open_vSwitch");
  co_return **std::move(row);
}

runtime::Task<Result<judge::VswitchdFacts>> VswitchdProbe::ask(runtime::Deadline deadline) {
  const Result<void> found = control_.find();
  if (!found) co_return std::unexpected(found.error());
  Result<codec::ProcStat> process = read_process(runtime_.files(), control_.pid());
  if (!process) co_return std::unexpected(process.error());
  judge::VswitchdFacts facts;
  facts.process = to_facts(*std::move(process), runtime_.now());
  // A stopped process is told as that, and not by its silence.
  if (judge::stuck_at_once(facts.process.state)) co_return facts;
  const Result<std::string> version = co_await control_.ask("version", deadline);
  if (!version) co_return std::unexpected(version.error());
  Result<std::string> said = codec::parse_version(*version);
  if (!said) co_return std::unexpected(said.error());
  facts.version = *std::move(said);
  Result<codec::VswitchRow> row = co_await ask_database(deadline);
  if (!row) co_return std::unexpected(row.error());
  facts.next_cfg = row->next_cfg;
  facts.cur_cfg = row->cur_cfg;
  facts.faulty = row->faulty;
  facts.errors = std::move(row->errors);
  co_return facts;
}

runtime::Task<judge::Observation> VswitchdProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<judge::VswitchdFacts> facts = co_await ask(deadline);
  observation.cost = control_.cost();
  if (!facts) co_return no_answer(std::move(observation), facts.error(), runtime_.now());
  observation.ended = runtime_.now();
  const judge::ProcessFacts& process = facts->process;
  const Duration waiting = waiting_.feed(process.pid, process.state, observation.begun);
  if (facts->next_cfg)
    facts->behind = behind_.feed(*facts->next_cfg, *facts->cur_cfg, observation.begun);
  judge::Judgement judgement = judge_vswitchd(*facts, policy_, waiting);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = judge::ProcessListFacts{.count = 1, .shown = {facts->process}};
  co_return observation;
}

std::span<const ParamSpec> vswitchd_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_vswitchd_probe(runtime::Runtime& runtime, std::string subject,
                                                   const Params& params) {
  VswitchdProbe::Target target{"/run/openvswitch/ovs-vswitchd.pid",
                               runtime::Endpoint::unix_socket("/run/openvswitch/db.sock")};
  if (params.contains("pid_file")) {
    Result<std::string> path = path_param(params, "pid_file");
    if (!path) return std::unexpected(path.error());
    if (!path->ends_with(".pid"))
      return fail(Errc::kInvalid, "pid_file: {} does not end in .pid", *path);
    target.pid_file = *std::move(path);
  }
  Result<std::optional<runtime::Endpoint>> ovsdb = unix_socket_param(params, "ovsdb");
  if (!ovsdb) return std::unexpected(ovsdb.error());
  if (*ovsdb) target.ovsdb = **std::move(ovsdb);
  judge::VswitchdPolicy policy;
  policy.longest_behind = param<Duration>(params, "behind").value_or(policy.longest_behind);
  return std::make_unique<VswitchdProbe>(runtime, std::move(subject), std::move(target), policy);
}

}  // namespace wardmote::observe::ovn
