#include "net/folder_lock.h"

#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "net/system_error.h"
#include "net/unique_fd.h"

namespace wardmote::net {

namespace {

// The first byte keeps others out: a lock of the open file (F_OFD_SETLK, fcntl(2)), which no other
// close() in this process can undo. The kernel tells nobody whose such a lock is, but it tells that
// of a lock of the process; so the second byte has one of those, which only says who.
constexpr off_t kKeep = 0;
constexpr off_t kName = 1;

struct flock lock_of(off_t byte) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// 0 is a process of another pid namespace, a negative number one of another host (NFS).
std::string holder(int file) {
  struct flock lock = lock_of(kName);
  if (::fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return "another process";
  if (lock.l_pid <= 0) return "a process of another container or host";
  return fmt::format("process {}", lock.l_pid);
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail_errno(errno, "open {}", path);
  struct flock lock = lock_of(kKeep);
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) return fail_errno(errno, "lock {}", path);
    return fail(Errc::kRejected, "lock {}: {} has it", path, holder(file.get()));
  }
  lock = lock_of(kName);
  ::fcntl(file.get(), F_SETLK, &lock);  // without it the other is refused all the same
  return FolderLock(std::move(file));
}

}  // namespace wardmote::net
