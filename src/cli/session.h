#pragma once

#include "cli/exit_code.h"
#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {

/// The real world for one command. Only commands that need it create it, because a start without it
/// is cheaper.
class Session {
 public:
  /// `ssl:` endpoints work too (net/mbedtls).
  Session();
  [[nodiscard]] net::AsioRuntime& runtime() noexcept { return runtime_; }
  /// Runs `work` to its end. SIGINT and SIGTERM cancel it; the result is then kInterrupted.
  Exit run(runtime::Task<Exit> work);

 private:
  net::AsioRuntime runtime_;
};

}  // namespace wardmote::cli
