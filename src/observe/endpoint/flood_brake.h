#pragma once

#include <cstddef>

#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

/// For a reader of datagrams that anybody may forge: the reader ignores them and waits for the
/// right one until its deadline. The brake limits what that costs: after each hundred datagrams it
/// pauses, so that a flood takes a tenth of a core. Life cycle: one probe.
class FloodBrake {
 public:
  /// More datagrams than this in one probe are a flood: the right one may have been pushed out.
  static constexpr std::size_t kFlood = 1000;

  explicit FloodBrake(runtime::Runtime& runtime) : runtime_(&runtime) {}

  /// Call for each ignored datagram. Pauses until `until` at most.
  runtime::Task<void> ignored(runtime::Deadline until);
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  runtime::Runtime* runtime_;
  std::size_t count_ = 0;
};

}  // namespace wardmote::observe
