#pragma once

#include <expected>

#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// How a notice fared: taken, or why not.
using Fate = std::expected<void, judge::notify::Refusal>;

/// One way to tell somebody. The same notice may be sent twice, with the same key().
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// Ends by the deadline.
  virtual runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) = 0;
};

}  // namespace wardmote::act::notify
