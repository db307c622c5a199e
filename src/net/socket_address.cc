#include "net/socket_address.h"

#include <sys/un.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"

namespace wardmote::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

SocketAddress from_asio(const tcp::endpoint& endpoint) {
  SocketAddress address;
  std::memcpy(&address.storage, endpoint.data(), endpoint.size());
  address.size = static_cast<socklen_t>(endpoint.size());
  return address;
}

/// A name resolution under way. getaddrinfo() cannot be interrupted, so the caller and the
/// resolver's thread share this object, and the caller may leave first.
struct Lookup {
  explicit Lookup(asio::io_context& context, TimePoint at) : resolver(context), done(context, at) {}

  tcp::resolver resolver;
  BootTimer done;  ///< cancelled when the answer has arrived
  std::optional<boost::system::error_code> error;
  std::vector<SocketAddress> addresses;
};

void start(const std::shared_ptr<Lookup>& lookup, const Endpoint& endpoint) {
  lookup->resolver.async_resolve(
      endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
      [lookup](const boost::system::error_code& error, const tcp::resolver::results_type& results) {
        lookup->error = error;
        for (const auto& result : results)
          lookup->addresses.push_back(from_asio(result.endpoint()));
        lookup->done.cancel();
      });
}

}  // namespace

Errc errc_of_lookup(const boost::system::error_code& error) noexcept {
  // Only these two results come from a name server: NXDOMAIN, and a name without addresses.
  if (error == asio::error::host_not_found || error == asio::error::no_data) return Errc::kMissing;
  return Errc::kNoResolver;
}

Result<SocketAddress> unix_address(const std::string& path) {
  SocketAddress address;
  auto* const name = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (path.empty() || path.size() >= sizeof name->sun_path)
    return fail(Errc::kInvalid, "socket path '{}'", path);
  name->sun_family = AF_UNIX;
  std::memcpy(name->sun_path, path.c_str(), path.size() + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Result<SocketAddress> numeric_address(const Endpoint& endpoint) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(endpoint.host, error);
  if (error) return fail(Errc::kInvalid, "'{}' is not an IP address", endpoint.host);
  return from_asio(tcp::endpoint(address, endpoint.port));
}

Task<Result<std::vector<SocketAddress>>> tcp_addresses(Core* core, Endpoint endpoint,
                                                       Deadline deadline) {
  const Result<SocketAddress> numeric = numeric_address(endpoint);
  if (numeric) co_return std::vector{*numeric};

  const auto lookup = std::make_shared<Lookup>(core->context, deadline.at);
  start(lookup, endpoint);
  while (!lookup->error && !deadline.passed(SystemBootClock::now())) {
    co_await lookup->done.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  if (!lookup->error) co_return fail(Errc::kNoResolver, "resolve {} in time", endpoint.host);
  const boost::system::error_code error = *lookup->error;
  if (error) {
    co_return fail(errc_of_lookup(error), "resolve {}: {}", endpoint.host, error.message());
  }
  if (lookup->addresses.empty())
    co_return fail(Errc::kMissing, "resolve {}: no address", endpoint.host);
  co_return std::move(lookup->addresses);
}

Result<UniqueFd> open_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno(errno, "open a socket");
  return fd;
}

}  // namespace wardmote::net
