#include "net/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/asio_stream.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/deadline_queue.h"
#include "net/peer.h"
#include "net/socket_address.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/peer.h"
#include "runtime/stream.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Stream;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

Task<Result<Socket>> connect_unix(Core* core, std::string path, Deadline deadline) {
  const Result<SocketAddress> address = unix_address(path);
  if (!address) co_return std::unexpected(address.error());
  Result<UniqueFd> fd = open_socket(AF_UNIX);
  if (!fd) co_return std::unexpected(fd.error());
  for (Duration pause = 1ms;; pause = std::min<Duration>(2 * pause, 20ms)) {
    if (::connect(fd->get(), address->get(), address->size) == 0)
      co_return adopt(*core, std::move(*fd), AF_UNIX);
    if (errno != EAGAIN) co_return fail_errno(errno, "connect");
    // The kernel has no way to tell when the queue of a unix listener has room again.
    const TimePoint now = SystemBootClock::now();
    if (deadline.passed(now)) co_return fail(Errc::kTimeout, "connect: its queue is full");
    co_await core->sleep_until(std::min(now + pause, deadline.at));
  }
}

Task<Result<Socket>> connect_tcp(Core* core, SocketAddress address, Deadline deadline) {
  Result<UniqueFd> fd = open_socket(address.family());
  if (!fd) co_return std::unexpected(fd.error());
  const int on = 1;
  ::setsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const bool connected = ::connect(fd->get(), address.get(), address.size) == 0;
  if (!connected && errno != EINPROGRESS) co_return fail_errno(errno, "connect");
  Result<Socket> socket = adopt(*core, std::move(*fd), address.family());
  if (!socket || connected) co_return socket;

  for (bool waiting = true; waiting;) {
    if (deadline.passed(SystemBootClock::now())) co_return fail(Errc::kTimeout, "connect");
    DeadlineQueue::Watch watch(core->deadlines, deadline, cancel_socket, &*socket);
    const auto [ended] =
        co_await socket->async_wait(Socket::wait_write, asio::as_tuple(asio::use_awaitable));
    waiting = ended == asio::error::operation_aborted;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket->native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) co_return fail_errno(error, "connect");
  co_return socket;
}

Task<Result<Socket>> connect_any(Core* core, Endpoint to, Deadline deadline) {
  Result<std::vector<SocketAddress>> addresses = co_await tcp_addresses(core, to, deadline);
  if (!addresses) co_return std::unexpected(addresses.error());
  Result<Socket> socket = fail(Errc::kInternal, "no address");
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    // An address that swallows packets must leave time for the ones after it.
    const TimePoint now = SystemBootClock::now();
    const auto left = static_cast<Duration::rep>(addresses->size() - i);
    const Deadline share{now + deadline.left(now) / left};
    socket = co_await connect_tcp(core, (*addresses)[i], share);
    if (socket) break;
  }
  co_return socket;
}

}  // namespace

Task<Result<std::unique_ptr<Stream>>> connect_stream(Core* core, Endpoint to, Deadline deadline) {
  Result<Socket> socket = fail(Errc::kInternal, "connect");
  if (to.kind == Endpoint::Kind::kUnix) {
    socket = co_await connect_unix(core, to.path, deadline);
  } else {
    socket = co_await connect_any(core, to, deadline);
  }
  if (!socket) co_return with_context(socket, "{}", to_string(to));
  // Of a unix socket the kernel knows who listens, for those who want to tell which process hangs.
  runtime::Peer peer;
  if (to.kind == Endpoint::Kind::kUnix) peer.process = process_behind(socket->native_handle());
  co_return std::make_unique<AsioStream>(*core, std::move(*socket), std::move(peer));
}

}  // namespace wardmote::net
