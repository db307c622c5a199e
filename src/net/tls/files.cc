#include "net/tls/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string>

#include "base/result.h"
#include "net/system_error.h"

namespace wardmote::net::tls {
namespace {

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<FileIdentity> identify(const std::string& path) {
  if (path.empty()) return FileIdentity{};
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0 || ::access(path.c_str(), R_OK) != 0)
    return fail_errno(errno, "{}", path);
  if (!S_ISREG(found.st_mode)) return fail(Errc::kInvalid, "{}: no regular file", path);
  return FileIdentity{found.st_dev, found.st_ino, found.st_size, nanoseconds(found.st_mtim),
                      nanoseconds(found.st_ctim)};
}

}  // namespace wardmote::net::tls
