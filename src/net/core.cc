#include "net/core.h"

#include <boost/asio/use_awaitable.hpp>

#include "base/time.h"
#include "net/boot_timer.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;

// UNSAFE_IO: one thread does all I/O, so descriptors need no locks; the scheduler keeps its lock
// because the resolver and signal handlers post from elsewhere.
Core::Core() : context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO), deadlines(context) {}

runtime::Task<void> Core::sleep_until(TimePoint at) {
  BootTimer timer(context, at);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace wardmote::net
