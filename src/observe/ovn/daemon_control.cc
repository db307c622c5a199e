#include "observe/ovn/daemon_control.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "codec/proc_stat.h"
#include "codec/unixctl_text.h"
#include "judge/observation.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/ovn/rpc_client.h"
#include "observe/params.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {
namespace {

constexpr std::string_view kPidFile = ".pid";

}  // namespace

DaemonControl::DaemonControl(runtime::Runtime& runtime, std::string path)
    : runtime_(runtime), path_(std::move(path)) {
  if (path_.ends_with(kPidFile)) return;
  rpc_ = std::make_unique<RpcClient>(runtime_, runtime::Endpoint::unix_socket(path_), RpcOptions());
}

Result<void> DaemonControl::find() {
  cost_ = {};
  if (!path_.ends_with(kPidFile)) return {};
  const Result<std::uint32_t> pid = read_pid_file(runtime_.files(), path_);
  if (!pid) return std::unexpected(pid.error());
  const Result<codec::ProcStat> process = read_process(runtime_.files(), *pid);
  if (!process && process.error().code == Errc::kMissing) {
    const Result<void> seen = see_processes(runtime_.files());
    if (!seen) return fail(Errc::kDenied, "{}", seen.error().context);
    return fail(Errc::kMissing, "pid file {}: no process {}", path_, *pid);
  }
  if (std::exchange(pid_, *pid) == *pid && rpc_) return {};
  const std::string stem = path_.substr(0, path_.size() - kPidFile.size());
  rpc_ = std::make_unique<RpcClient>(
      runtime_, runtime::Endpoint::unix_socket(fmt::format("{}.{}.ctl", stem, *pid)), RpcOptions());
  return {};
}

runtime::Task<Result<std::string>> DaemonControl::ask(std::string command,
                                                      runtime::Deadline deadline) {
  rpc_->prepare(command, "[]");
  const Result<void> sent = co_await rpc_->send(deadline);
  if (!sent) co_return with_context(sent, "{}", command);
  const Result<codec::RpcMessage> reply = co_await rpc_->receive(deadline);
  cost_.bytes_in += rpc_->cost().bytes_in;
  cost_.bytes_out += rpc_->cost().bytes_out;
  cost_.fresh_connection |= rpc_->cost().fresh_connection;
  if (!reply) co_return with_context(reply, "{}", command);
  Result<std::string> text = codec::read_unixctl_text(*reply);
  rpc_->rest();
  if (!text) co_return with_context(text, "{}", command);
  co_return text;
}

Result<std::string> control_path(const Params& params, std::string_view otherwise) {
  if (!params.contains("control")) return std::string(otherwise);
  Result<runtime::Endpoint> at = runtime::parse_endpoint(*param<std::string>(params, "control"));
  if (!at) return with_context(at, "control");
  if (at->kind != runtime::Endpoint::Kind::kUnix || !at->path.starts_with('/')) {
    return fail(Errc::kInvalid, "control: not the absolute path of a control socket or a pid file");
  }
  return std::move(at->path);
}

judge::Observation no_answer(judge::Observation observation, const Error& error, TimePoint now) {
  observation.ended = now;
  observation.reason = reason_of(error);
  observation.outcome = outcome_of(observation.reason.code);
  return observation;
}

}  // namespace wardmote::observe::ovn
