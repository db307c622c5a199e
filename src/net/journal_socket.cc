#include "net/journal_socket.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/result.h"
#include "net/system_error.h"
#include "net/unique_fd.h"

namespace wardmote::net {
namespace {

bool send_datagram(int fd, const sockaddr_un& to, std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API
  const auto* const address = reinterpret_cast<const sockaddr*>(&to);
  return ::sendto(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address,
                  sizeof(to)) >= 0;
}

/// Sends the entry in a sealed memory file, of which only the descriptor is sent.
Result<void> send_file(int fd, sockaddr_un to, std::string_view bytes) {
  const UniqueFd file(::memfd_create("wardmote-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) return fail_errno(errno, "a file in memory");
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = ::write(file.get(), left.data(), left.size());
    if (written < 0) return fail_errno(errno, "a file in memory");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) < 0) return fail_errno(errno, "sealing");
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof(to);
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = file.get();
  std::memcpy(CMSG_DATA(header), &number, sizeof(number));
  if (::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return fail_errno(errno, "send");
  return {};
}

}  // namespace

Result<void> JournalSocket::send(std::string_view entry) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(to.sun_path)) return fail(Errc::kInvalid, "journal {}", path_);
  path_.copy(to.sun_path, sizeof(to.sun_path) - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return fail_errno(errno, "journal {}", path_);
  if (send_datagram(fd.get(), to, entry)) return {};
  // The entry is longer than a datagram can be.
  if (errno != EMSGSIZE && errno != ENOBUFS) return fail_errno(errno, "journal {}", path_);
  const Result<void> sent = send_file(fd.get(), to, entry);
  if (!sent) return with_context(sent, "journal {}", path_);
  return sent;
}

}  // namespace wardmote::net
