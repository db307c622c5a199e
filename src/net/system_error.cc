#include "net/system_error.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.h"

namespace wardmote::net {

Errc to_errc(int error) noexcept {
  switch (error) {
    case ETIMEDOUT: return Errc::kTimeout;
    case ECONNREFUSED:
    case EADDRINUSE: return Errc::kRefused;
    case ENOENT:
    case ENOTDIR:
    case ESRCH:  // /proc: the process has ended
      return Errc::kMissing;
    case EACCES:
    case EPERM: return Errc::kDenied;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EAFNOSUPPORT: return Errc::kUnreachable;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN: return Errc::kClosed;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:
    case EAGAIN:         // fork: no more processes
    case EADDRNOTAVAIL:  // connect: no more local ports
      return Errc::kExhausted;
    case EPROTOTYPE: return Errc::kProtocol;  // a datagram socket where a stream was expected
    case E2BIG: return Errc::kLimit;
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
    case EISDIR: return Errc::kInvalid;
    default: return Errc::kInternal;
  }
}

std::string errno_detail(int error) {
  switch (error) {
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ENOENT:
    case EACCES:
    case EPIPE: return {};
    default: return ": " + std::generic_category().message(error);
  }
}

}  // namespace wardmote::net
