#include "runtime/files.h"

#include <string_view>

namespace wardmote::runtime {

std::string_view to_string(FileInfo::Kind kind) noexcept {
  switch (kind) {
    case FileInfo::Kind::kRegular: return "a regular file";
    case FileInfo::Kind::kFolder: return "a folder";
    case FileInfo::Kind::kFifo: return "a FIFO";
    case FileInfo::Kind::kSocket: return "a socket";
    case FileInfo::Kind::kSymlink: return "a symbolic link";
    case FileInfo::Kind::kDevice: return "a device";
  }
  return "a regular file";
}

}  // namespace wardmote::runtime
