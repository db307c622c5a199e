#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {

/// Asks the control socket of a daemon of OVN or Open vSwitch (lib/unixctl.c). Its name has the pid
/// of the daemon, so it is found as ovn-appctl finds it: by the pid file beside it. A daemon that
/// was restarted is found again. Life cycle: `runtime` outlives it. Thread: the core loop.
class DaemonControl {
 public:
  /// `path`: a control socket, or a pid file, which ends in `.pid`.
  DaemonControl(runtime::Runtime& runtime, std::string path);

  /// Finds the daemon; before the commands of a look. kMissing: no pid file, or no such process.
  Result<void> find();
  /// The text of its answer. Errors of RpcClient; kRejected with its text.
  runtime::Task<Result<std::string>> ask(std::string command, runtime::Deadline deadline);

  /// By the pid file; 0: a control socket was given.
  [[nodiscard]] std::uint32_t pid() const noexcept { return pid_; }
  /// What the commands since find() have cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Runtime& runtime_;
  std::string path_;
  std::uint32_t pid_ = 0;
  std::unique_ptr<RpcClient> rpc_;
  judge::Cost cost_;
};

/// The parameter `control`: an absolute path of a control socket or of a pid file. kInvalid.
Result<std::string> control_path(const Params& params, std::string_view otherwise);

/// The observation of a daemon that did not answer.
judge::Observation no_answer(judge::Observation observation, const Error& error, TimePoint now);

}  // namespace wardmote::observe::ovn
