#include "net/folder_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
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

// The first byte is the lock: a lock of the open file (F_OFD_SETLK, fcntl(2)), which no other
// close() in this process can release. The kernel does not say who holds such a lock, but it does
// for a lock of a process; so the second byte has a lock of that kind, which only names the
// process.
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

/// 0 means a process of another pid namespace, a negative number one of another host (NFS).
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
  // without this one the other process is refused all the same
  ::fcntl(file.get(), F_SETLK, &lock);
  return FolderLock(std::move(file), path);
}

Result<void> FolderLock::in_place() const {
  struct ::stat mine{};
  struct ::stat there{};
  if (::fstat(file_.get(), &mine) != 0) return fail_errno(errno, "look at {}", path_);
  const bool found = ::lstat(path_.c_str(), &there) == 0;
  if (found && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino) return {};
  return fail(Errc::kMissing, "{} is not the file that this agent has locked", path_);
}

}  // namespace wardmote::net
