#include "observe/host/remembered_file.h"

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/files.h"

namespace wardmote::observe {

Result<std::string_view> RememberedFile::read(runtime::Files& files, WallTime now) {
  // Before the bytes: if the file changes in between, it has another identity at the next call.
  const Result<runtime::FileInfo> info = files.info(path_);
  if (info && known_ == info->identity) return bytes_;
  known_.reset();
  Result<std::string> bytes = files.read(path_, cap_);
  if (!bytes) return std::unexpected(bytes.error());
  bytes_ = *std::move(bytes);
  if (info && now - info->identity.changed >= kSettled) known_ = info->identity;
  return bytes_;
}

}  // namespace wardmote::observe
