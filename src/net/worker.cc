#include "net/worker.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <thread>
#include <utility>

#include "net/asio_runtime.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;

runtime::Task<void> Worker::run(std::function<void()> work) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
      [this](auto handler, std::function<void()> job) {
        thread_ = std::jthread([this, job = std::move(job), done = std::move(handler)]() mutable {
          job();
          job = nullptr;
          asio::post(runtime_.context(), std::move(done));
        });
      },
      asio::use_awaitable, std::move(work));
}

}  // namespace wardmote::net
