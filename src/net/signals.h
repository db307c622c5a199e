#pragma once

#include <memory>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::net {

/// Takes signals of the process into the loop: while it lives they do nothing but wake next(). One
/// that arrives between two calls is kept. At most one set for a signal.
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
