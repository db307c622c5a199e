#include "net/spare_sockets.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "base/result.h"
#include "net/socket_address.h"
#include "net/unique_fd.h"

namespace wardmote::net {
namespace {

/// Enough for one tick of a few thousand checks: these sockets come back before the next tick.
constexpr std::size_t kMost = 128;

}  // namespace

SpareSockets::Shelf& SpareSockets::shelf_of(int family) noexcept {
  return family == AF_INET6 ? v6_ : v4_;
}

Result<UniqueFd> SpareSockets::take(int family) {
  Shelf& shelf = shelf_of(family);
  if (shelf.empty()) {
    Result<UniqueFd> fd = open_socket(family);
    if (!fd) return fd;
    const int on = 1;
    ::setsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }
  UniqueFd fd = std::move(shelf.back());
  shelf.pop_back();
  return fd;
}

bool SpareSockets::is_over(int fd) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  int unheard = 0;
  return info.tcpi_state == TCP_CLOSE_WAIT && ::ioctl(fd, SIOCOUTQ, &unheard) == 0 && unheard == 0;
}

void SpareSockets::give_back(UniqueFd fd, int family) noexcept {
  // connect(2): AF_UNSPEC dissolves the association. tcp_disconnect() of Linux resets an
  // established connection, discards received data, and frees the port.
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  const bool dissolved = ::connect(fd.get(), &nobody, sizeof nobody) == 0;
  Shelf& shelf = shelf_of(family);
  if (dissolved && shelf.size() < kMost) shelf.push_back(std::move(fd));
}

}  // namespace wardmote::net
