#include "net/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

constexpr Duration kNotYet = 20ms;

Task<Result<std::unique_ptr<Stream>>> connect_unix(Core* core, std::string path,
                                                   Deadline deadline) {
  const Result<SocketAddress> address = unix_address(path);
  if (!address) co_return std::unexpected(address.error());
  Result<UniqueFd> fd = open_socket(AF_UNIX);
  if (!fd) co_return std::unexpected(fd.error());
  for (Duration pause = 1ms;; pause = std::min<Duration>(2 * pause, 20ms)) {
    if (::connect(fd->get(), address->get(), address->size) == 0) break;
    if (errno != EAGAIN) co_return fail_errno(errno, "connect");
    // The kernel does not report when the queue of a unix listener has room again.
    const TimePoint now = SystemBootClock::now();
    if (deadline.passed(now)) co_return fail(Errc::kTimeout, "connect: its queue is full");
    co_await core->sleep_until(std::min(now + pause, deadline.at));
  }
  Result<Socket> socket = adopt(*core, std::move(*fd), AF_UNIX);
  if (!socket) co_return std::unexpected(socket.error());
  // The kernel knows who listens, so the error can name the process that hangs.
  runtime::Peer peer;
  peer.process = process_behind(socket->native_handle());
  co_return std::make_unique<AsioStream>(*core, std::move(*socket), std::move(peer));
}

/// The result of connect(): still under way, success, or the errno of its failure.
std::optional<int> outcome_of_connect(int fd) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return errno;
  if (info.tcpi_state == TCP_ESTABLISHED) return 0;
  int error = 0;
  size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  // The kernel may continue to try after an ICMP error (a firewall that rejects); we stop.
  if (info.tcpi_state == TCP_SYN_SENT && error == 0) return std::nullopt;
  return error;
}

/// Begins to connect. A near server answers at once: then the result is there, and the loop is not
/// needed.
std::optional<int> begin_connect(int fd, const SocketAddress& address) noexcept {
  if (::connect(fd, address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  return outcome_of_connect(fd);
}

/// Waits until the socket is ready, or its deadline has come.
Task<void> wait_ready(Core* core, Socket* socket, Deadline deadline) {
  DeadlineQueue::Watch watch(core->deadlines, deadline, cancel_socket, socket);
  [[maybe_unused]] const auto [ended] =
      co_await socket->async_wait(Socket::wait_write, asio::as_tuple(asio::use_awaitable));
}

Task<Result<void>> wait_connected(Core* core, Socket* socket, Deadline deadline) {
  for (;;) {
    TimePoint now = SystemBootClock::now();
    if (deadline.passed(now)) co_return fail(Errc::kTimeout, "connect");
    co_await wait_ready(core, socket, deadline);
    const std::optional<int> outcome = outcome_of_connect(socket->native_handle());
    if (outcome == 0) co_return Result<void>();
    if (outcome) co_return fail_errno(*outcome, "connect");
    // The socket is ready and not connected: the connection exists only when the other side
    // answers.
    now = SystemBootClock::now();
    co_await core->sleep_until(std::min(now + kNotYet, deadline.at));
  }
}

/// Suppresses the last packet of the handshake: our next packet, a request or a reset, acknowledges
/// the connection as well.
void spare_last_acknowledgement(int fd) noexcept {
  const int off = 0;
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
}

Task<Result<std::unique_ptr<Stream>>> connect_tcp(Core* core, SocketAddress address,
                                                  Deadline deadline) {
  Result<UniqueFd> fd = core->spare.take(address.family());
  if (!fd) co_return std::unexpected(fd.error());
  // The side that connects here sends first.
  spare_last_acknowledgement(fd->get());
  const std::optional<int> outcome = begin_connect(fd->get(), address);
  if (outcome.value_or(0) != 0) co_return fail_errno(*outcome, "connect");
  Result<Socket> socket = adopt(*core, std::move(*fd), address.family());
  if (!socket) co_return std::unexpected(socket.error());
  if (outcome) {
    // Other tasks connect first: their requests then reach servers that are already awake.
    co_await asio::post(core->context, asio::use_awaitable);
  } else {
    const Result<void> connected = co_await wait_connected(core, &*socket, deadline);
    if (!connected) co_return std::unexpected(connected.error());
  }
  co_return std::make_unique<AsioStream>(*core, std::move(*socket), address.family());
}

/// A reset leaves no TIME_WAIT behind. haproxy closes its checks in the same way.
Task<Result<void>> knock_at(Core* core, SocketAddress address, Deadline deadline) {
  Result<UniqueFd> fd = core->spare.take(address.family());
  if (!fd) co_return std::unexpected(fd.error());
  spare_last_acknowledgement(fd->get());
  const std::optional<int> outcome = begin_connect(fd->get(), address);
  if (outcome.value_or(0) != 0) co_return fail_errno(*outcome, "connect");
  if (!outcome) {
    Result<Socket> socket = adopt(*core, std::move(*fd), address.family());
    if (!socket) co_return std::unexpected(socket.error());
    Result<void> connected = co_await wait_connected(core, &*socket, deadline);
    if (!connected) co_return connected;
    *fd = let_go(*socket);
  }
  core->spare.give_back(std::move(*fd), address.family());
  co_return Result<void>();
}

/// An address that drops packets must leave time for the `left` addresses after it.
Deadline share_of(Deadline deadline, std::size_t left) noexcept {
  const TimePoint now = SystemBootClock::now();
  return {now + deadline.left(now) / static_cast<Duration::rep>(left)};
}

Task<Result<std::unique_ptr<Stream>>> connect_local(Core* core, Endpoint to, Deadline deadline) {
  Result<std::unique_ptr<Stream>> stream = co_await connect_unix(core, to.path, deadline);
  if (!stream) co_return with_context(stream, "{}", to_string(to));
  co_return stream;
}

/// What this name means everywhere (RFC 6761, 6.3): to look at a neighbour takes no resolver, and
/// no thread of it. In the order of RFC 6724; where there is no IPv6 the first fails at once.
constexpr std::string_view kLocalhost = "localhost";
constexpr std::array kLoopback = {"::1", "127.0.0.1"};

Task<Result<std::vector<SocketAddress>>> addresses_of(Core* core, Endpoint to, Deadline deadline) {
  if (to.host != kLocalhost) {
    auto found = co_await tcp_addresses(core, std::move(to), deadline);
    co_return found;
  }
  std::vector<SocketAddress> addresses;
  for (const char* const host : kLoopback) {
    const Result<SocketAddress> address = numeric_address(Endpoint::tcp(host, to.port));
    if (!address) co_return std::unexpected(address.error());
    addresses.push_back(*address);
  }
  co_return addresses;
}

template <typename T>
using Attempt = Task<Result<T>> (*)(Core*, SocketAddress, Deadline);

/// Tries the addresses of `to` one after the other, until one of them succeeds.
template <typename T>
Task<Result<T>> try_addresses(Core* core, Endpoint to, Deadline deadline, Attempt<T> attempt) {
  Result<T> outcome = fail(Errc::kInternal, "no address");
  if (const Result<SocketAddress> numeric = numeric_address(to)) {
    outcome = co_await attempt(core, *numeric, deadline);
    if (!outcome) co_return with_context(outcome, "{}", to_string(to));
    co_return outcome;
  }
  const Result<std::vector<SocketAddress>> addresses = co_await addresses_of(core, to, deadline);
  if (!addresses) co_return with_context(addresses, "{}", to_string(to));
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    const Deadline share = share_of(deadline, addresses->size() - i);
    outcome = co_await attempt(core, (*addresses)[i], share);
    if (outcome) co_return outcome;
  }
  co_return with_context(outcome, "{}", to_string(to));
}

}  // namespace

Task<Result<std::unique_ptr<Stream>>> connect_stream(Core* core, Endpoint to, Deadline deadline) {
  if (to.kind == Endpoint::Kind::kTcp)
    return try_addresses<std::unique_ptr<Stream>>(core, std::move(to), deadline, connect_tcp);
  return connect_local(core, std::move(to), deadline);
}

Task<Result<void>> knock_tcp(Core* core, Endpoint to, Deadline deadline) {
  return try_addresses<void>(core, std::move(to), deadline, knock_at);
}

}  // namespace wardmote::net
