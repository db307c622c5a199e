#pragma once

#include <memory>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::net {

/// Delivers signals of the process to the loop: while this object lives, they only wake next(). A
/// signal that arrives between two calls is kept. At most one object for a signal.
class Signals {
 public:
  Signals(AsioRuntime& runtime, const std::vector<int>& numbers);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// The number of the next signal.
  runtime::Task<int> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wardmote::net
