#pragma once

#include <functional>
#include <thread>

#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::net {

/// A thread for rare work that takes long; the thread lives as long as the work. Life cycle: its
/// destructor waits for the work. Thread: the core loop.
class Worker {
 public:
  explicit Worker(AsioRuntime& runtime) : runtime_(runtime) {}

  /// Runs `work`, which must not throw, and returns on the loop when the work is done. A cancelled
  /// task waits for it, too. One at a time.
  runtime::Task<void> run(std::function<void()> work);

 private:
  AsioRuntime& runtime_;
  std::jthread thread_;
};

}  // namespace wardmote::net
