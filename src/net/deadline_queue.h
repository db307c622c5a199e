#pragma once

#include <map>
#include <optional>

#include "base/time.h"
#include "net/boot_timer.h"
#include "runtime/deadline.h"

namespace wardmote::net {

/// Ends waiting operations at their deadlines, with one timer for all of them. Most operations end
/// long before their deadline, so watching one costs a map insertion and no timer: the timer is set
/// to the earliest deadline known when it last fired, and stays set when that operation ends.
/// Thread: the loop's.
class DeadlineQueue {
 public:
  /// Called once when the deadline has passed while the watch lives. It only asks the operation to
  /// end; it must not destroy a Watch.
  using Expire = void (*)(void* subject) noexcept;

  /// Watches one operation as long as it lives.
  class Watch {
   public:
    Watch(DeadlineQueue& queue, runtime::Deadline deadline, Expire expire, void* subject);
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

   private:
    friend class DeadlineQueue;
    using Place = std::multimap<TimePoint, Watch*>::iterator;

    DeadlineQueue* queue_;
    Expire expire_;
    void* subject_;
    Place place_;
  };

  explicit DeadlineQueue(boost::asio::io_context& context) : timer_(context) {}

 private:
  void arm();
  void on_timer();

  std::multimap<TimePoint, Watch*> pending_;  ///< not yet expired
  BootTimer timer_;
  std::optional<TimePoint> armed_;
};

}  // namespace wardmote::net
