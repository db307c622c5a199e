#include "net/datagram_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/socket_address.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Task;

namespace {

constexpr mode_t kSocketMode = 0660;

Result<UniqueFd> open_datagram_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno(errno, "open a socket");
  return fd;
}

/// Removes a socket file without a listener.
Result<void> remove_leftover(const std::string& path, const SocketAddress& address) {
  struct stat seen{};
  if (::lstat(path.c_str(), &seen) != 0) return {};
  if (!S_ISSOCK(seen.st_mode)) return fail(Errc::kInvalid, "{} exists and is not a socket", path);
  const Result<UniqueFd> probe = open_datagram_socket();
  if (!probe) return std::unexpected(probe.error());
  const int error = ::connect(probe->get(), address.get(), address.size) == 0 ? 0 : errno;
  // EPROTOTYPE: it is a stream socket, so it belongs to another program.
  if (error == 0 || error == EPROTOTYPE)
    return fail(Errc::kRefused, "{}: another process listens there", path);
  if (error != ECONNREFUSED) return fail_errno(error, "probe {}", path);
  if (::unlink(path.c_str()) != 0) return fail_errno(errno, "remove {}", path);
  return {};
}

}  // namespace

Result<std::unique_ptr<DatagramListener>> DatagramListener::open(const runtime::Executor& executor,
                                                                 const std::string& path) {
  const Result<SocketAddress> address = unix_address(path);
  if (!address) return std::unexpected(address.error());
  const Result<void> removed = remove_leftover(path, *address);
  if (!removed) return std::unexpected(removed.error());
  Result<UniqueFd> fd = open_datagram_socket();
  if (!fd) return std::unexpected(fd.error());
  // The umask is set before bind(), so that the file never has wider permissions than its mode; the
  // mode is set after bind(), because bind() applies the umask too.
  ::fchmod(fd->get(), kSocketMode);
  if (::bind(fd->get(), address->get(), address->size) != 0)
    return fail_errno(errno, "listen on {}", path);
  if (::chmod(path.c_str(), kSocketMode) != 0) return fail_errno(errno, "chmod {}", path);
  Socket socket(executor);
  boost::system::error_code error;
  socket.assign(asio::local::datagram_protocol(), fd->get(), error);
  if (error) return fail_errno(error.value(), "watch {}", path);
  (void)fd->release();
  return std::unique_ptr<DatagramListener>(new DatagramListener(std::move(socket), path));
}

DatagramListener::DatagramListener(Socket socket, std::string path)
    : socket_(std::move(socket)), path_(std::move(path)) {}

DatagramListener::~DatagramListener() {
  ::unlink(path_.c_str());
}

Task<Result<std::size_t>> DatagramListener::receive(std::span<char> into) {
  for (;;) {
    // MSG_TRUNC: returns the full size of the datagram, however much of it fits.
    const ssize_t size =
        ::recv(socket_.native_handle(), into.data(), into.size(), MSG_TRUNC | MSG_DONTWAIT);
    if (size > static_cast<ssize_t>(into.size()))
      co_return fail(Errc::kLimit, "a datagram of {} bytes", size);
    if (size >= 0) co_return static_cast<std::size_t>(size);
    if (errno != EAGAIN && errno != EINTR) co_return fail_errno(errno, "receive");
    co_await socket_.async_wait(Socket::wait_read, asio::as_tuple(asio::use_awaitable));
  }
}

}  // namespace wardmote::net
