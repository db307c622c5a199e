#pragma once

#include <sys/types.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <memory>
#include <optional>

#include "base/result.h"
#include "net/core.h"
#include "runtime/process.h"

namespace wardmote::net {

using Descriptor =
    boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

/// A child process in a process group of its own, known by a pidfd. Thread: the loop's.
class Child {
 public:
  /// kMissing or kDenied when the program cannot be executed, kExhausted, kLimit when its arguments
  /// are too long.
  static Result<std::shared_ptr<Child>> start(Core& core, const runtime::ProcessSpec& spec);

  explicit Child(Core& core) : exited(core.context), out(core.context), err(core.context) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() = default;

  /// Readable when the process has ended.
  Descriptor exited;
  Descriptor out;
  Descriptor err;

  /// Kills the group, as long as the process has not been reaped.
  void kill_group() noexcept;
  /// Takes the exit status if the process has ended: the code, or 128 + the signal. Once.
  std::optional<int> reap() noexcept;
  /// Kills the group and reaps the process whenever it ends.
  static void abandon(const std::shared_ptr<Child>& child);

 private:
  pid_t pid_ = 0;  ///< 0 when there is nothing to reap
};

}  // namespace wardmote::net
