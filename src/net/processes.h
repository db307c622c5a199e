#pragma once

#include "net/core.h"
#include "runtime/process.h"

namespace wardmote::net {

/// Runs programs by posix_spawn, each in its own process group, and learns of their end by a pidfd,
/// so that neither a SIGCHLD handler nor a thread is needed. Standard input is a file in memory: a
/// program that does not read it blocks nobody. What a program leaves in its group is killed when
/// the program ends.
class PosixProcesses final : public runtime::Processes {
 public:
  explicit PosixProcesses(Core& core) noexcept : core_(&core) {}

  runtime::Task<Result<runtime::ProcessExit>> run(runtime::ProcessSpec spec,
                                                  runtime::Deadline deadline) override;

 private:
  Core* core_;
};

}  // namespace wardmote::net
