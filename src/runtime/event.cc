#include "runtime/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cstddef>
#include <memory>

#include "runtime/task.h"

namespace wardmote::runtime {

namespace asio = boost::asio;

struct Event::State {
  explicit State(const Executor& executor)
      : timer(executor, asio::steady_timer::time_point::max()) {}

  asio::steady_timer timer;  ///< never expires; notify() cancels it
  std::size_t waiting = 0;
};

Event::Event(const Executor& executor) : state_(std::make_unique<State>(executor)) {}
Event::~Event() = default;

Task<void> Event::wait() {
  // Counted down on every way out.
  struct Counted {
    std::size_t* count;
    explicit Counted(std::size_t* of) : count(of) { ++*count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --*count; }
  } const counted(&state_->waiting);
  co_await state_->timer.async_wait(asio::as_tuple(asio::use_awaitable));
  // The timer cannot tell a notify() from a cancellation.
  const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
  if (asked.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

void Event::notify() {
  state_->timer.cancel();
}

std::size_t Event::waiting() const noexcept {
  return state_->waiting;
}

}  // namespace wardmote::runtime
