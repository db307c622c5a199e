#include "net/asio_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <expected>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/asio_stream.h"
#include "net/core.h"
#include "net/peer.h"
#include "net/socket_address.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/endpoint.h"
#include "runtime/peer.h"
#include "runtime/stream.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Stream;
using runtime::Task;

namespace {

constexpr int kBacklog = 512;
constexpr mode_t kSocketMode = 0660;
/// The bytes that the kernel buffers for a client that does not read; a cgroup counts them as our
/// memory.
constexpr int kSendBuffer = 128 << 10;
// TCP_USER_TIMEOUT of tcp(7): how long data may be sent and not acknowledged
constexpr unsigned kVanishedMs = 60'000;

/// Removes a socket file without a listener. A socket with a listener, and a file of another kind,
/// are errors.
Result<void> remove_leftover(const std::string& path, const SocketAddress& address) {
  struct stat before{};
  if (::lstat(path.c_str(), &before) != 0) return {};
  if (!S_ISSOCK(before.st_mode)) return fail(Errc::kInvalid, "{} exists and is not a socket", path);
  Result<UniqueFd> probe = open_socket(AF_UNIX);
  if (!probe) return std::unexpected(probe.error());
  if (::connect(probe->get(), address.get(), address.size) == 0 || errno == EAGAIN) {
    return fail(Errc::kRefused, "{}: another process listens there", path);
  }
  if (errno != ECONNREFUSED) return fail_errno(errno, "probe {}", path);
  // Another agent that starts at the same moment may have replaced the file since.
  struct stat now{};
  const bool same = ::lstat(path.c_str(), &now) == 0 && now.st_ino == before.st_ino &&
                    now.st_dev == before.st_dev;
  if (same && ::unlink(path.c_str()) != 0) return fail_errno(errno, "remove {}", path);
  return {};
}

Result<UniqueFd> bind_and_listen(UniqueFd fd, const SocketAddress& address) {
  if (::bind(fd.get(), address.get(), address.size) != 0) return fail_errno(errno, "listen");
  if (::listen(fd.get(), kBacklog) != 0) return fail_errno(errno, "listen");
  return fd;
}

Result<std::unique_ptr<Listener>> listen_unix(Core& core, const std::string& path) {
  const Result<SocketAddress> address = unix_address(path);
  if (!address) return std::unexpected(address.error());
  const Result<void> removed = remove_leftover(path, *address);
  if (!removed) return std::unexpected(removed.error());
  Result<UniqueFd> opened = open_socket(AF_UNIX);
  if (!opened) return std::unexpected(opened.error());
  // The umask is set before bind(), so that the file never has wider permissions than its mode; the
  // mode is set after bind(), because bind() applies the umask too.
  ::fchmod(opened->get(), kSocketMode);
  Result<UniqueFd> fd = bind_and_listen(std::move(*opened), *address);
  if (!fd) return std::unexpected(fd.error());
  struct stat made{};
  if (::chmod(path.c_str(), kSocketMode) != 0 || ::lstat(path.c_str(), &made) != 0) {
    return fail_errno(errno, "set the mode of {}", path);
  }
  Result<Socket> socket = adopt(core, std::move(*fd), AF_UNIX);
  if (!socket) return std::unexpected(socket.error());
  return std::make_unique<AsioListener>(core, std::move(*socket),
                                        AsioListener::SocketFile{path, made.st_dev, made.st_ino});
}

Result<std::unique_ptr<Listener>> listen_tcp(Core& core, const Endpoint& at) {
  const Result<SocketAddress> address = numeric_address(at);
  if (!address) return std::unexpected(address.error());
  Result<UniqueFd> opened = open_socket(address->family());
  if (!opened) return std::unexpected(opened.error());
  const int on = 1;
  ::setsockopt(opened->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  Result<UniqueFd> fd = bind_and_listen(std::move(*opened), *address);
  if (!fd) return std::unexpected(fd.error());
  Result<Socket> socket = adopt(core, std::move(*fd), address->family());
  if (!socket) return std::unexpected(socket.error());
  return std::make_unique<AsioListener>(core, std::move(*socket), AsioListener::SocketFile{});
}

/// Answers are sent at once, and a client that has vanished is noticed when data is sent to it.
void tune(int socket) {
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kVanishedMs, sizeof kVanishedMs);
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_on(Core& core, const Endpoint& at) {
  Result<std::unique_ptr<Listener>> listener =
      at.kind == Endpoint::Kind::kUnix ? listen_unix(core, at.path) : listen_tcp(core, at);
  if (!listener) return with_context(listener, "{}", to_string(at));
  return listener;
}

AsioListener::~AsioListener() {
  if (file_.path.empty()) return;
  struct stat now{};
  if (::lstat(file_.path.c_str(), &now) == 0 && now.st_dev == file_.device &&
      now.st_ino == file_.inode) {
    ::unlink(file_.path.c_str());
  }
}

Task<Result<std::unique_ptr<Stream>>> AsioListener::accept() {
  for (;;) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    UniqueFd fd(::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                          SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      if (peer.ss_family != AF_UNIX) tune(fd.get());
      runtime::Peer known = peer_of(fd.get(), peer);
      Result<Socket> socket = adopt(*core_, std::move(fd), peer.ss_family);
      if (!socket) co_return with_context(socket, "accept");
      co_return std::make_unique<AsioStream>(*core_, std::move(*socket), std::move(known));
    }
    // A client that has disconnected meanwhile is not our error.
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno != EAGAIN) co_return fail_errno(errno, "accept");
    co_await socket_.async_wait(Socket::wait_read, asio::as_tuple(asio::use_awaitable));
  }
}

}  // namespace wardmote::net
