#pragma once

#include <sys/types.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/core.h"
#include "net/subreaper.h"
#include "runtime/process.h"

namespace wardmote::net {

using Descriptor =
    boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

/// A child process in a process group of its own, known by a pidfd. Thread: the loop's.
class Child {
 public:
  /// kMissing or kDenied when the program cannot be executed, kExhausted, kLimit when its arguments
  /// are too long.
  static Result<std::shared_ptr<Child>> start(Core& core, std::shared_ptr<Subreaper> subreaper,
                                              const runtime::ProcessSpec& spec);

  Child(Core& core, std::shared_ptr<Subreaper> subreaper)
      : exited(core.context),
        out(core.context),
        err(core.context),
        subreaper_(std::move(subreaper)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() = default;

  /// Readable when the process has ended.
  Descriptor exited;
  Descriptor out;
  Descriptor err;

  /// Kills the group but for what is spared, as long as the process has not been reaped.
  void kill_group();
  /// Whether the process has ended with exit status 0. It stays to be reaped.
  bool ended_well() const;
  /// Takes the exit status if the process has ended: the code, or 128 + the signal. Once.
  std::optional<int> reap();
  /// Kills the group, and reaps the process when it ends; or leaves it alone where this process
  /// ends and something is spared.
  static void abandon(const std::shared_ptr<Child>& child);

 private:
  struct StandardFiles {
    int in;
    int out;
    int err;
  };
  /// Runs the program, or returns why it cannot.
  Result<void> spawn(const runtime::ProcessSpec& spec, StandardFiles files);

  std::shared_ptr<Subreaper> subreaper_;
  std::string spares_;
  std::uint64_t run_ = 0;
  pid_t pid_ = 0;  ///< 0 when there is no process to reap
};

}  // namespace wardmote::net
