#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "net/unique_fd.h"

namespace wardmote::net {

/// Unconnected TCP sockets for new connections: creating and freeing a socket costs the kernel
/// nearly as much as a handshake. Code that connects all day takes a socket here and gives it back.
/// Thread: the core loop only.
class SpareSockets {
 public:
  /// A non-blocking, close-on-exec socket of AF_INET or AF_INET6. kExhausted.
  Result<UniqueFd> take(int family);

  /// Whether the connection of `fd` may end by a reset without anybody noticing: the other side has
  /// closed it, and has received all our data.
  static bool is_over(int fd) noexcept;

  /// Resets the connection of `fd` in any state, and keeps the socket.
  void give_back(UniqueFd fd, int family) noexcept;

 private:
  using Shelf = std::vector<UniqueFd>;
  Shelf& shelf_of(int family) noexcept;

  Shelf v4_;
  Shelf v6_;
};

}  // namespace wardmote::net
