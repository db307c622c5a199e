#pragma once

#include "cli/exit_code.h"
#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {

/// The real world for one verb. Made only by verbs that need it: a start without it is cheaper.
class Session {
 public:
  [[nodiscard]] net::AsioRuntime& runtime() noexcept { return runtime_; }
  /// Runs `work` to its end. On SIGINT or SIGTERM it is cancelled, and the answer is kInterrupted.
  Exit run(runtime::Task<Exit> work);

 private:
  net::AsioRuntime runtime_;
};

}  // namespace wardmote::cli
