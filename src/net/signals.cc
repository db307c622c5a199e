#include "net/signals.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;

struct Signals::Impl {
  explicit Impl(asio::io_context& context) : set(context) {}
  asio::signal_set set;
};

Signals::Signals(AsioRuntime& runtime, const std::vector<int>& numbers)
    : impl_(std::make_unique<Impl>(runtime.context())) {
  for (const int number : numbers) impl_->set.add(number);
}

Signals::~Signals() = default;

runtime::Task<int> Signals::next() {
  const auto [error, number] = co_await impl_->set.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return number;
}

}  // namespace wardmote::net
