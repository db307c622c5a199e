#include "sim/parking.h"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/check.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

namespace asio = boost::asio;
using runtime::Task;

Task<void> Parking::wait() {
  check(!waiter_, "two coroutines wait at one Parking");
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(boost::system::error_code)>(
      [this](auto handler) {
        asio::cancellation_slot slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
          slot.assign([this](asio::cancellation_type) { finish(asio::error::operation_aborted); });
        waiter_ = [executor = host_->executor(), slot,
                   waiting = std::move(handler)](boost::system::error_code with) mutable {
          // Posted, because the slot may be what calls this, and must not be cleared from within.
          asio::post(executor, [slot, resume = std::move(waiting), with]() mutable {
            slot.clear();
            std::move(resume)(with);
          });
        };
      },
      asio::use_awaitable);
}

Task<void> Parking::wait_until(TimePoint at) {
  const Alarm alarm(host_->world(), at, [this] { wake(); });
  co_await wait();
}

void Parking::wake() {
  finish({});
}

void Parking::finish(boost::system::error_code with) {
  if (!waiter_) return;
  std::exchange(waiter_, nullptr)(with);
  host_->world().mark_ready(*host_);
}

}  // namespace wardmote::sim
