#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

struct FileInfo {
  enum class Kind : std::uint8_t { kRegular, kFolder, kFifo, kSocket, kSymlink, kDevice };

  /// Identifies a file and its state: the same file with the same bytes has the same identity. Two
  /// changes within one tick of the file system's clock may have the same identity, so the identity
  /// of a file that changed a moment ago proves nothing.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    WallTime changed;  ///< changes with its bytes, its name or its rights
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  Kind kind = Kind::kRegular;
  std::uint64_t size = 0;  ///< bytes; 0 for files that the kernel generates, as in /proc
  WallTime modified;
  Identity identity;
};

/// What is left on a file system (statvfs(3)).
struct DiskSpace {
  std::uint64_t free_bytes = 0;  ///< for those who are not root
  std::uint64_t total_bytes = 0;
  std::uint64_t free_inodes = 0;
  std::uint64_t total_inodes = 0;  ///< 0: the file system does not count them
};

/// `a regular file`, `a folder`, `a FIFO`, …
std::string_view to_string(FileInfo::Kind kind) noexcept;

/// A file that one read(2) returns completely, on a disk or `/proc/PID/stat`, kept open so that it
/// can be read again and again. A new file under the same name is another file, and the file of a
/// process ends with the process. Life cycle: the Files that opened it outlives it.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  virtual ~OpenFile() = default;

  /// As Files::read(). kMissing when the process of the file has ended.
  virtual Result<std::string> read(std::size_t cap) = 0;
};

/// Local files: status files under /run, /proc, pid files, and parts of large ones, such as the end
/// of a log. No call waits for the peer of a FIFO or for a device, so a call takes microseconds;
/// read_part() and space() may wait for a disk. On a network file system a call takes as long as
/// the file system does, and everything else waits. Thread: the core loop only.
class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  virtual ~Files() = default;

  /// All bytes of a regular file. The last part of `path` is not followed when it is a symbolic
  /// link. kMissing, kDenied, kLimit over `cap` bytes, kInvalid when it is anything else than a
  /// regular file.
  virtual Result<std::string> read(const std::string& path, std::size_t cap) = 0;
  /// At most `most` bytes of a regular file of any size, from `offset` on; fewer at its end. Errors
  /// as of read(), without kLimit.
  virtual Result<std::string> read_part(const std::string& path, std::uint64_t offset,
                                        std::size_t most) = 0;
  /// Opens a regular file to read it many times. Errors as of read(), and kExhausted when so many
  /// are open that descriptors could run out: then use read().
  virtual Result<std::unique_ptr<OpenFile>> open(const std::string& path) = 0;
  /// What is at a path; symbolic links are followed. kMissing, kDenied.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// The same for a path that may be on a network file system: only the caller waits, until
  /// `deadline`. kTimeout without an answer by then, kExhausted when too many other paths do not
  /// answer. A path is asked once, however many callers wait for it.
  virtual Task<Result<FileInfo>> info(std::string path, Deadline deadline) = 0;
  /// Whether a process has the FIFO open for reading. Writes nothing. kMissing, kDenied; kInvalid
  /// when it is not a FIFO.
  virtual Result<bool> has_reader(const std::string& fifo) = 0;
  /// Whether this process may start the program now, by its path; a name without a slash is not
  /// looked for. kMissing, kDenied; kInvalid when it is not a regular file.
  virtual Result<void> may_run(const std::string& program) = 0;
  /// The names in a folder, sorted, without `.` and `..`. kMissing, kDenied, kLimit over `cap`
  /// names.
  virtual Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) = 0;
  /// Of the file system that `path` is on. kMissing, kDenied.
  virtual Result<DiskSpace> space(const std::string& path) = 0;
};

}  // namespace wardmote::runtime
