#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace wardmote::net::tls {

/// Changes when a file is written or replaced by any means: `cp`, `mv`, or the symbolic links of a
/// Kubernetes secret.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// kMissing, kDenied; kInvalid when it is not a regular file. An empty path is a file that does not
/// exist and never changes.
Result<FileIdentity> identify(const std::string& path);

}  // namespace wardmote::net::tls
