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

  /// Which file it is, in which state: the same one with the same bytes has the same identity.
  /// Changes within one tick of the file system's clock may share one, so of a file that changed a
  /// moment ago it proves nothing.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    WallTime changed;  ///< its bytes, its name or its rights
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  Kind kind = Kind::kRegular;
  std::uint64_t size = 0;  ///< bytes; 0 for what the kernel makes up, as in /proc
  WallTime modified;
  Identity identity;
};

/// `a regular file`, `a folder`, `a FIFO`, …
std::string_view to_string(FileInfo::Kind kind) noexcept;

/// A file that one read(2) gives whole, on a disk or `/proc/PID/stat`, kept open to be read again
/// and again. What takes its name is another file: that of a process ends with the process. Life
/// cycle: the Files that opened it outlives it.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  virtual ~OpenFile() = default;

  /// As Files::read(); kMissing when its process has ended.
  virtual Result<std::string> read(std::size_t cap) = 0;
};

/// Small local files: status files under /run, /proc, pid files. Nothing here waits for a peer of a
/// FIFO or a device, so that a call costs microseconds; on a file system of the network a call
/// takes as long as that does, and everybody waits. Thread: the core loop only.
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
  /// A regular file, to be kept. Errors as those of read(); kExhausted when so many are kept that
  /// descriptors could run out: then read() has to do.
  virtual Result<std::unique_ptr<OpenFile>> open(const std::string& path) = 0;
  /// What a path leads to, symbolic links followed. kMissing, kDenied.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// The same for a path that may lie on a file system of the network: only who asks waits, until
  /// `deadline`. kTimeout when there is no answer by then, kExhausted when too many other paths do
  /// not answer; a path is asked once, however many wait for it.
  virtual Task<Result<FileInfo>> info(std::string path, Deadline deadline) = 0;
  /// Whether somebody has the FIFO open to read. Writes nothing. kMissing, kDenied, kInvalid when
  /// it is no FIFO.
  virtual Result<bool> has_reader(const std::string& fifo) = 0;
  /// The names in a folder, sorted, without `.` and `..`. kMissing, kDenied, kLimit over `cap`
  /// names.
  virtual Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) = 0;
};

}  // namespace wardmote::runtime
