#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "net/unique_fd.h"

namespace wardmote::net {

/// Keeps other processes out of a folder, by a lock of the kernel on a file in it: it ends with
/// its process, however that ends, and nothing has to be cleared away. Thread: any.
class FolderLock {
 public:
  /// Makes the file `path` if need be. Never waits. kRejected: another holds it; the context names
  /// its process, where the kernel can. kMissing: no such folder. kDenied: not ours.
  static Result<FolderLock> take(const std::string& path);

 private:
  explicit FolderLock(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
};

}  // namespace wardmote::net
