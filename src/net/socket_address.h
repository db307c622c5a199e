#pragma once

#include <sys/socket.h>

#include <boost/system/error_code.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/core.h"
#include "net/unique_fd.h"
#include "runtime/endpoint.h"

namespace wardmote::net {

/// An address for connect() and bind().
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  [[nodiscard]] int family() const noexcept { return storage.ss_family; }
};

/// kInvalid when the path does not fit.
Result<SocketAddress> unix_address(const std::string& path);

/// The addresses of a TCP endpoint: at once for a numeric host, else by the system's resolver. Not
/// empty. kMissing when a name server says that the name does not exist; kNoResolver when no name
/// server answered, also when the deadline passed.
runtime::Task<Result<std::vector<SocketAddress>>> tcp_addresses(Core* core,
                                                                runtime::Endpoint endpoint,
                                                                runtime::Deadline deadline);

/// What a failed resolution means: kMissing or kNoResolver.
Errc errc_of_lookup(const boost::system::error_code& error) noexcept;

/// The address of a TCP endpoint with a numeric host; kInvalid for a name.
Result<SocketAddress> numeric_address(const runtime::Endpoint& endpoint);

/// A non-blocking, close-on-exec stream socket.
Result<UniqueFd> open_socket(int family);

}  // namespace wardmote::net
