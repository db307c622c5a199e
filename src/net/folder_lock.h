#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "net/unique_fd.h"

namespace wardmote::net {

/// Keeps other processes out of a folder, by a kernel lock on a file in it. The lock ends with its
/// process in every case, so there is nothing to clean up. Thread: any.
class FolderLock {
 public:
  /// Creates the file `path` if needed. Never waits. kRejected: another process holds the lock; the
  /// context names it, if the kernel can. kMissing: no such folder. kDenied: no access to it.
  static Result<FolderLock> take(const std::string& path);
  /// kMissing: the file at `path` is not the locked one, so another process may hold a lock on the
  /// new file.
  [[nodiscard]] Result<void> in_place() const;

 private:
  FolderLock(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  UniqueFd file_;
  std::string path_;
};

}  // namespace wardmote::net
