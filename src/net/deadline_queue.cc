#include "net/deadline_queue.h"

#include <boost/asio/error.hpp>

#include "base/time.h"
#include "net/boot_timer.h"
#include "runtime/deadline.h"

namespace wardmote::net {

DeadlineQueue::Watch::Watch(DeadlineQueue& queue, runtime::Deadline deadline, Expire expire,
                            void* subject)
    : queue_(&queue),
      expire_(expire),
      subject_(subject),
      place_(queue.pending_.emplace(deadline.at, this)) {
  queue.arm();
}

DeadlineQueue::Watch::~Watch() {
  if (place_ != queue_->pending_.end()) queue_->pending_.erase(place_);
}

void DeadlineQueue::arm() {
  if (pending_.empty()) return;
  const TimePoint earliest = pending_.begin()->first;
  if (armed_ && *armed_ <= earliest) return;
  armed_ = earliest;
  timer_.expires_at(earliest);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error != boost::asio::error::operation_aborted) on_timer();
  });
}

void DeadlineQueue::on_timer() {
  armed_.reset();
  const TimePoint now = SystemBootClock::now();
  while (!pending_.empty() && pending_.begin()->first <= now) {
    Watch* const expired = pending_.begin()->second;
    pending_.erase(pending_.begin());
    expired->place_ = pending_.end();
    expired->expire_(expired->subject_);
  }
  arm();
}

}  // namespace wardmote::net
