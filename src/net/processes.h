#pragma once

#include <memory>

#include "net/core.h"
#include "net/subreaper.h"
#include "runtime/process.h"

namespace wardmote::net {

/// Runs programs by posix_spawn, each in its own process group. A pidfd reports the end of each, so
/// that no SIGCHLD handler and no thread is needed. Standard input is a file in memory, so a
/// program that does not read it blocks nothing. When the program ends, all processes of its group
/// are killed; with `ends_family` also those that have left the group, with `spares` only if it
/// failed.
class PosixProcesses final : public runtime::Processes {
 public:
  explicit PosixProcesses(Core& core)
      : core_(&core), subreaper_(std::make_shared<Subreaper>(core)) {}
  PosixProcesses(const PosixProcesses&) = delete;
  PosixProcesses& operator=(const PosixProcesses&) = delete;
  ~PosixProcesses() override { subreaper_->finish(); }

  void let_go() noexcept override { subreaper_->let_go(); }
  runtime::Task<Result<runtime::ProcessExit>> run(runtime::ProcessSpec spec,
                                                  runtime::Deadline deadline) override;

 private:
  Core* core_;
  std::shared_ptr<Subreaper> subreaper_;
};

}  // namespace wardmote::net
