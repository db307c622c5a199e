#include "net/asio_datagrams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/generic/datagram_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/deadline_queue.h"
#include "net/socket_address.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::DatagramTarget;
using runtime::Deadline;
using runtime::Task;

namespace {

using DatagramSocket =
    asio::basic_datagram_socket<asio::generic::datagram_protocol, asio::io_context::executor_type>;

void cancel(void* socket) noexcept {
  boost::system::error_code ignored;
  static_cast<DatagramSocket*>(socket)->cancel(ignored);
}

/// The address without the port.
std::string_view host_bytes(const sockaddr_storage& address) noexcept {
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    return {reinterpret_cast<const char*>(&in.sin_addr), sizeof in.sin_addr};
  }
  const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
  return {reinterpret_cast<const char*>(&in.sin6_addr), sizeof in.sin6_addr};
}

class AsioDatagrams final : public runtime::Datagrams {
 public:
  AsioDatagrams(Core& core, DatagramSocket socket, SocketAddress to)
      : core_(&core), socket_(std::move(socket)), to_(to) {}

  Result<void> send(std::string_view bytes) override {
    if (::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) return {};
    if (errno == EMSGSIZE) return fail(Errc::kLimit, "send {} bytes", bytes.size());
    return fail_errno(errno, "send");
  }

  Task<Result<std::size_t>> receive(std::span<char> into, Deadline deadline) override {
    for (;;) {
      if (deadline.passed(SystemBootClock::now())) co_return fail(Errc::kTimeout, "receive");
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      const ssize_t got = ::recvfrom(socket_.native_handle(), into.data(), into.size(), MSG_TRUNC,
                                     reinterpret_cast<sockaddr*>(&from), &size);
      // The kernel checks the sender of UDP only, so the sender of all others is checked here.
      const bool from_elsewhere = got >= 0 && host_bytes(from) != host_bytes(to_.storage);
      // Returned empty, so that the caller counts it: a flood must not keep this loop busy.
      if (from_elsewhere) co_return std::size_t{0};
      if (got >= 0) co_return static_cast<std::size_t>(got);
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) co_return fail_errno(errno, "receive");
      DeadlineQueue::Watch watch(core_->deadlines, deadline, cancel, &socket_);
      co_await socket_.async_wait(DatagramSocket::wait_read, asio::as_tuple(asio::use_awaitable));
    }
  }

  [[nodiscard]] std::string address() const override {
    std::array<char, sizeof(in6_addr)> raw{};
    std::ranges::copy(host_bytes(to_.storage), raw.begin());
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::inet_ntop(to_.family(), raw.data(), text.data(), text.size()) == nullptr) return {};
    return text.data();
  }

 private:
  Core* core_;
  DatagramSocket socket_;
  SocketAddress to_;
};

bool is_of(const SocketAddress& address, DatagramTarget::Family family) noexcept {
  if (family == DatagramTarget::Family::kAny) return true;
  return address.family() == (family == DatagramTarget::Family::kIpv4 ? AF_INET : AF_INET6);
}

int protocol_of(const DatagramTarget& to, int family) noexcept {
  if (to.protocol == DatagramTarget::Protocol::kUdp) return IPPROTO_UDP;
  return family == AF_INET ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6);
}

}  // namespace

Task<Result<std::unique_ptr<runtime::Datagrams>>> open_datagrams(Core* core, DatagramTarget to,
                                                                 Deadline deadline) {
  const runtime::Endpoint endpoint = runtime::Endpoint::tcp(to.host, to.port);
  const Result<std::vector<SocketAddress>> addresses =
      co_await tcp_addresses(core, endpoint, deadline);
  if (!addresses) co_return std::unexpected(addresses.error());
  const auto found = std::ranges::find_if(
      *addresses, [&](const SocketAddress& address) { return is_of(address, to.family); });
  if (found == addresses->end())
    co_return fail(Errc::kMissing, "{} has no address of this family", to.host);
  const int family = found->family();
  UniqueFd fd(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol_of(to, family)));
  if (!fd) co_return fail_errno(errno, "open a socket");
  if (::connect(fd.get(), found->get(), found->size) != 0) co_return fail_errno(errno, "connect");
  DatagramSocket socket(core->context);
  boost::system::error_code error;
  socket.assign(asio::generic::datagram_protocol(family, 0), fd.get(), error);
  if (error) co_return fail_errno(error.value(), "watch a socket");
  static_cast<void>(fd.release());
  co_return std::make_unique<AsioDatagrams>(*core, std::move(socket), *found);
}

}  // namespace wardmote::net
