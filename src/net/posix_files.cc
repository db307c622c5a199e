#include "net/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/task.h"

namespace wardmote::net {

using runtime::FileInfo;

namespace {

constexpr std::size_t kChunk = 4 << 10;

WallTime to_wall_time(const timespec& time) noexcept {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

FileInfo::Kind kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return FileInfo::Kind::kFolder;
  if (S_ISFIFO(mode)) return FileInfo::Kind::kFifo;
  if (S_ISSOCK(mode)) return FileInfo::Kind::kSocket;
  if (S_ISLNK(mode)) return FileInfo::Kind::kSymlink;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileInfo::Kind::kDevice;
  return FileInfo::Kind::kRegular;
}

/// Flags with which an open neither waits, nor makes a terminal ours, nor follows a symbolic link
/// at the end of the path.
constexpr int kQuietly = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

std::unexpected<Error> not_a(std::string_view wanted, FileInfo::Kind kind,
                             const std::string& path) {
  return fail(Errc::kInvalid, "{}: {}, not {}", path, to_string(kind), wanted);
}

/// The error of opening `path` as a regular file; the kind of the file says more than ELOOP or
/// ENXIO.
std::unexpected<Error> fail_open(int error, const std::string& path) {
  struct stat seen{};
  if ((error == ELOOP || error == ENXIO) && ::lstat(path.c_str(), &seen) == 0) {
    const FileInfo::Kind kind = kind_of(seen.st_mode);
    if (kind != FileInfo::Kind::kRegular)
      return not_a(to_string(FileInfo::Kind::kRegular), kind, path);
  }
  return fail_errno(error, "{}", path);
}

struct Opened {
  UniqueFd fd;
  std::size_t size;  ///< 0 for files that the kernel generates
};

Result<Opened> open_regular(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | kQuietly));
  if (!file) return fail_open(errno, path);
  struct stat seen{};
  if (::fstat(file.get(), &seen) != 0) return fail_errno(errno, "{}", path);
  const FileInfo::Kind kind = kind_of(seen.st_mode);
  if (kind != FileInfo::Kind::kRegular)
    return not_a(to_string(FileInfo::Kind::kRegular), kind, path);
  return Opened{std::move(file), static_cast<std::size_t>(seen.st_size)};
}

/// Reads from the beginning. After as many bytes as the file had when it was opened, the file is
/// complete, and no further read is needed to find its end; a `size` of 0 means that the size is
/// not known.
Result<std::string> read_whole(int fd, std::size_t size, const std::string& path, std::size_t cap) {
  std::string bytes;
  for (;;) {
    // One byte above the cap shows that there is more.
    const std::size_t have = bytes.size();
    const std::size_t room = std::min(kChunk, cap + 1 - have);
    ssize_t got = 0;
    bytes.resize_and_overwrite(have + room, [&](char* into, std::size_t) {
      got = ::pread(fd, into + have, room, static_cast<off_t>(have));
      return have + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    });
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "{}: read", path);
    if (bytes.size() > cap) return fail(Errc::kLimit, "{}: more than {} bytes", path, cap);
    if (got == 0 || bytes.size() == size) return bytes;
  }
}

class KeptFile final : public runtime::OpenFile {
 public:
  KeptFile(UniqueFd fd, std::string path, std::size_t& open)
      : fd_(std::move(fd)), path_(std::move(path)), open_(open) {
    ++open_;
  }
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile() override { --open_; }

  Result<std::string> read(std::size_t cap) override {
    std::string bytes;
    ssize_t got = 0;
    do {
      bytes.resize_and_overwrite(cap + 1, [&](char* into, std::size_t room) {
        got = ::pread(fd_.get(), into, room, 0);
        return static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      });
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fail_errno(errno, "{}: read", path_);
    if (bytes.size() > cap) return fail(Errc::kLimit, "{}: more than {} bytes", path_, cap);
    return bytes;
  }

 private:
  UniqueFd fd_;
  std::string path_;
  std::size_t& open_;
};

}  // namespace

Result<std::string> PosixFiles::read(const std::string& path, std::size_t cap) {
  const Result<Opened> file = open_regular(path);
  if (!file) return std::unexpected(file.error());
  return read_whole(file->fd.get(), file->size, path, cap);
}

Result<std::unique_ptr<runtime::OpenFile>> PosixFiles::open(const std::string& path) {
  if (open_ >= kMostOpen) return fail(Errc::kExhausted, "{}: {} files are kept open", path, open_);
  Result<Opened> file = open_regular(path);
  if (!file) return std::unexpected(file.error());
  return std::make_unique<KeptFile>(std::move(file->fd), path, open_);
}

Result<FileInfo> info_of(const std::string& path) {
  struct stat seen{};
  if (::stat(path.c_str(), &seen) != 0) return fail_errno(errno, "{}", path);
  FileInfo info;
  info.kind = kind_of(seen.st_mode);
  info.size = static_cast<std::uint64_t>(seen.st_size);
  info.modified = to_wall_time(seen.st_mtim);
  info.identity = {seen.st_dev, seen.st_ino, to_wall_time(seen.st_ctim)};
  return info;
}

Result<FileInfo> PosixFiles::info(const std::string& path) {
  return info_of(path);
}

runtime::Task<Result<FileInfo>> PosixFiles::info(std::string path, runtime::Deadline deadline) {
  return patient_.info(std::move(path), deadline);
}

Result<bool> PosixFiles::has_reader(const std::string& fifo) {
  const UniqueFd end(::open(fifo.c_str(), O_WRONLY | kQuietly));
  // True for a FIFO only, at half the cost of fstat().
  if (end && ::fcntl(end.get(), F_GETPIPE_SZ) >= 0) return true;
  struct stat seen{};
  if (!end) {
    const int error = errno;
    if (error != ENXIO) return fail_errno(error, "{}", fifo);
    // fifo(7): no process reads it. A socket and a device without a driver give the same error.
    if (::lstat(fifo.c_str(), &seen) != 0) return fail_errno(errno, "{}", fifo);
  } else if (::fstat(end.get(), &seen) != 0) {
    return fail_errno(errno, "{}", fifo);
  }
  const FileInfo::Kind kind = kind_of(seen.st_mode);
  if (kind != FileInfo::Kind::kFifo) return not_a(to_string(FileInfo::Kind::kFifo), kind, fifo);
  return false;
}

Result<void> PosixFiles::may_run(const std::string& program) {
  if (!program.contains('/')) return {};
  const Result<FileInfo> found = info_of(program);
  if (!found) return std::unexpected(found.error());
  if (found->kind != FileInfo::Kind::kRegular)
    return not_a(to_string(FileInfo::Kind::kRegular), found->kind, program);
  if (::faccessat(AT_FDCWD, program.c_str(), X_OK, AT_EACCESS) != 0)
    return fail_errno(errno, "{}", program);
  return {};
}

Result<std::vector<std::string>> PosixFiles::list(const std::string& folder, std::size_t cap) {
  constexpr auto kClose = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(kClose)> open(::opendir(folder.c_str()));
  if (!open) return fail_errno(errno, "{}", folder);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a stream that no other thread reads
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr && errno != 0) return fail_errno(errno, "{}: read", folder);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == cap) return fail(Errc::kLimit, "{}: more than {} names", folder, cap);
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<runtime::DiskSpace> PosixFiles::space(const std::string& path) {
  struct statvfs seen{};
  if (::statvfs(path.c_str(), &seen) != 0) return fail_errno(errno, "{}", path);
  const std::uint64_t block = seen.f_frsize;
  return runtime::DiskSpace{.free_bytes = seen.f_bavail * block,
                            .total_bytes = seen.f_blocks * block,
                            .free_inodes = seen.f_favail,
                            .total_inodes = seen.f_files};
}

Result<std::string> PosixFiles::read_part(const std::string& path, std::uint64_t offset,
                                          std::size_t most) {
  const Result<Opened> file = open_regular(path);
  if (!file) return std::unexpected(file.error());
  std::string bytes;
  int error = 0;
  bytes.resize_and_overwrite(most, [&](char* into, std::size_t room) {
    std::size_t have = 0;
    while (have < room) {
      const ssize_t got =
          ::pread(file->fd.get(), into + have, room - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) error = errno;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  });
  if (error != 0) return fail_errno(error, "{}: read", path);
  return bytes;
}

}  // namespace wardmote::net
