#include "net/asio_stream.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/deadline_queue.h"
#include "net/spare_sockets.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/deadline.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr auto kAwaitResult = asio::as_tuple(asio::use_awaitable);
constexpr int kImmediateLimit = 16;

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Result<Socket> adopt(Core& core, UniqueFd fd, int family) {
  Socket socket(core.context);
  boost::system::error_code error;
  socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (error) return fail_errno(error.value(), "watch a socket");
  (void)fd.release();
  socket.non_blocking(true, error);
  return socket;
}

UniqueFd let_go(Socket& socket) noexcept {
  boost::system::error_code error;
  return UniqueFd(socket.release(error));
}

void cancel_socket(void* socket) noexcept {
  boost::system::error_code ignored;
  static_cast<Socket*>(socket)->cancel(ignored);
}

AsioStream::~AsioStream() {
  close();
}

bool AsioStream::must_yield() noexcept {
  return ++immediate_ % kImmediateLimit == 0;
}

Task<Result<std::size_t>> AsioStream::read_some(std::span<char> into, Deadline deadline) {
  if (must_yield()) co_await asio::post(core_->context, asio::use_awaitable);
  for (;;) {
    if (!socket_.is_open()) co_return fail(Errc::kClosed, "read");
    if (deadline.passed(SystemBootClock::now())) co_return fail(Errc::kTimeout, "read");
    // The answer to a request that was just sent cannot have arrived yet.
    if (!std::exchange(asked_, false)) {
      const ssize_t got = ::recv(socket_.native_handle(), into.data(), into.size(), 0);
      if (got > 0) co_return static_cast<std::size_t>(got);
      if (got == 0) co_return fail(Errc::kClosed, "read");
      if (!would_block(errno) && errno != EINTR) co_return fail_errno(errno, "read");
    }

    immediate_ = 0;
    DeadlineQueue::Watch watch(core_->deadlines, deadline, cancel_socket, &socket_);
    const auto [error, read] =
        co_await socket_.async_receive(asio::buffer(into.data(), into.size()), kAwaitResult);
    if (!error) co_return read;
    if (error == asio::error::eof) co_return fail(Errc::kClosed, "read");
    // A deadline (of the reader or the writer), close() or the task cancelled the wait: the next
    // round finds out which.
    if (error != asio::error::operation_aborted) co_return fail_errno(error.value(), "read");
  }
}

Task<Result<void>> AsioStream::write(std::string_view bytes, Deadline deadline) {
  if (must_yield()) co_await asio::post(core_->context, asio::use_awaitable);
  asked_ = true;
  while (!bytes.empty()) {
    if (!socket_.is_open()) co_return fail(Errc::kClosed, "write");
    if (deadline.passed(SystemBootClock::now())) co_return fail(Errc::kTimeout, "write");
    const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (!would_block(errno)) co_return fail_errno(errno, "write");

    immediate_ = 0;
    DeadlineQueue::Watch watch(core_->deadlines, deadline, cancel_socket, &socket_);
    co_await socket_.async_wait(Socket::wait_write, kAwaitResult);
  }
  co_return Result<void>();
}

void AsioStream::write_now(std::string_view bytes) noexcept {
  if (socket_.is_open()) ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void AsioStream::close() noexcept {
  if (!socket_.is_open()) return;
  if (spare_family_ != 0 && SpareSockets::is_over(socket_.native_handle())) {
    core_->spare.give_back(let_go(socket_), spare_family_);
    return;
  }
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace wardmote::net
