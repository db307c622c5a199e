#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// What to run. argv[0] is looked up in PATH; there is no shell.
struct ProcessSpec {
  std::vector<std::string> argv;
  std::string standard_input;
  std::size_t output_cap =
      1 << 20;  ///< bytes, for each of standard output and standard error; more is kLimit
  /// Kill everything that the program has started when it ends, daemons included. Not for programs
  /// that start services, or that keep a connection open, as ssh does.
  bool ends_family = false;
  /// The name of a server that the program may start and that is killed with nothing; as the kernel
  /// has it (/proc/PID/comm, at most 15 letters). When the program ends with 0, nothing of what it
  /// has started is killed: a server that is just being started does not have its name yet.
  std::string spares = {};
  /// Besides what the agent has in its environment: `NAME=VALUE` is set, `NAME` is taken out.
  std::vector<std::string> environment = {};
};

struct ProcessExit {
  int status = 0;  ///< exit code, or 128 + signal
  std::string standard_output;
  std::string standard_error;
};

/// Runs programs. A process gets its own process group and is killed with its children at the
/// deadline (kTimeout).
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// This process is about to end: from now on a program with `spares` that nobody waits for any
  /// more goes on by itself.
  virtual void let_go() noexcept {}
  /// A non-zero exit is a result, not an error; kMissing or kDenied when the program cannot be
  /// started.
  virtual Task<Result<ProcessExit>> run(ProcessSpec spec, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
