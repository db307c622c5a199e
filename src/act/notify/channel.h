#pragma once

#include <expected>
#include <string>

#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// The receiver took a notice.
struct Delivered {
  std::string complaint;  ///< recipients who will never get it, and why; empty when all have it
  judge::notify::Dropped dropped{};
};

/// The result of sending a notice: taken, or why not.
using DeliveryResult = std::expected<Delivered, judge::notify::Refusal>;

/// One way to send notices. The same notice may be sent twice, with the same key().
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// Ends by the deadline.
  virtual runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                             runtime::Deadline deadline) = 0;
};

}  // namespace wardmote::act::notify
