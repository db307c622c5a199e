#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/files.h"

namespace wardmote::runtime {

/// What is left on a file system (statvfs(3)).
struct DiskSpace {
  std::uint64_t free_bytes = 0;  ///< for those who are not root
  std::uint64_t total_bytes = 0;
  std::uint64_t free_inodes = 0;
  std::uint64_t total_inodes = 0;  ///< 0: the file system does not count them
};

/// Large files on local disks, and the file systems that they are on: what Files, which is for
/// small files, does not have. Thread: the core loop; a call waits for the disk.
class Disk {
 public:
  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  virtual ~Disk() = default;

  /// Of the file system that `path` is on. kMissing, kDenied.
  virtual Result<DiskSpace> space(const std::string& path) = 0;
  /// At most `most` bytes of a regular file, from `offset` on; fewer at its end. Errors as of
  /// Files::read().
  virtual Result<std::string> read_part(const std::string& path, std::uint64_t offset,
                                        std::size_t most) = 0;
};

/// The disk of the host whose files these are; null: it has none that can be looked at.
Disk* disk_of(Files& files) noexcept;

}  // namespace wardmote::runtime
