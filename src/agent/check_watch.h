#pragma once

#include <cstddef>
#include <memory>

#include "agent/board.h"
#include "agent/self_watch.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::agent {

/// Watches one subject by one probe and reports to the board. Life cycle: the board and the self
/// watch outlive it.
class CheckWatch {
 public:
  CheckWatch(Board& board, SelfWatch& self, std::size_t index,
             std::unique_ptr<observe::Probe> probe);

  /// Looks once, by the deadline.
  runtime::Task<void> round(runtime::Deadline deadline);

 private:
  Board& board_;
  SelfWatch& self_;
  std::size_t index_;
  std::unique_ptr<observe::Probe> probe_;
};

}  // namespace wardmote::agent
