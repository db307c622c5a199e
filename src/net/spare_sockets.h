#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "net/unique_fd.h"

namespace wardmote::net {

/// TCP sockets without a connection, to connect with: making and freeing a socket costs the kernel
/// nearly as much as a handshake. Whoever connects all day takes one here and gives it back.
/// Thread: the core loop only.
class SpareSockets {
 public:
  /// A non-blocking, close-on-exec socket of AF_INET or AF_INET6. kExhausted.
  Result<UniqueFd> take(int family);

  /// Whether the connection of `fd` may end by a reset, and nobody would know: the other side has
  /// closed it, and has all that we have said.
  static bool is_over(int fd) noexcept;

  /// Resets the connection of `fd`, whatever it is at, and keeps the socket.
  void give_back(UniqueFd fd, int family) noexcept;

 private:
  using Shelf = std::vector<UniqueFd>;
  Shelf& shelf_of(int family) noexcept;

  Shelf v4_;
  Shelf v6_;
};

}  // namespace wardmote::net
