#pragma once

#include <chrono>
#include <optional>

#include "agent/board.h"
#include "judge/outcome.h"
#include "judge/self/starvation_guard.h"
#include "runtime/runtime.h"

namespace wardmote::agent {

/// Knows from a heartbeat of its own whether this process ran well enough to judge others, and
/// makes bad news void that it was too starved to trust. Life cycle: run() in a TaskGroup;
/// `runtime` and `board` outlive it. Thread: the core loop.
class SelfWatch {
 public:
  static constexpr Duration kBeat = std::chrono::milliseconds(100);

  SelfWatch(runtime::Runtime& runtime, Board& board);

  /// Beats until cancelled.
  runtime::Task<void> run();

  /// Whether bad news from a look between `begun` and now are void; counts them if so. `reason` is
  /// why the look failed.
  [[nodiscard]] bool voids(TimePoint begun, const judge::Reason& reason);
  /// The reason that stands instead.
  [[nodiscard]] judge::Reason starved() const;

 private:
  void beat(TimePoint due);

  runtime::Runtime& runtime_;
  Board& board_;
  judge::StarvationGuard guard_;
  std::optional<TimePoint> next_beat_;
};

}  // namespace wardmote::agent
