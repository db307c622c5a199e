#include "agent/config/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>

#include "base/result.h"

namespace wardmote::agent::config {
namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::unexpected<Error> system_failure(int number) {
  Errc code = Errc::kInternal;
  if (number == ENOENT || number == ENOTDIR) code = Errc::kMissing;
  if (number == EACCES || number == EPERM) code = Errc::kDenied;
  if (number == EMFILE || number == ENFILE || number == ENOMEM) code = Errc::kExhausted;
  return fail(code, "{}", std::generic_category().message(number));
}

struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

Result<std::string> LocalFiles::read(const std::string& path, std::size_t cap) {
  // Not blocking: somebody may have put a pipe there.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) return system_failure(errno);
  struct stat facts{};
  if (::fstat(file.number, &facts) != 0) return system_failure(errno);
  if (!S_ISREG(facts.st_mode)) return fail(Errc::kInvalid, "not a regular file");
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunk);
    const ssize_t got = ::read(file.number, bytes.data() + before, kChunk);
    if (got < 0 && errno != EINTR) return system_failure(errno);
    bytes.resize(before + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (bytes.size() > cap) return fail(Errc::kLimit, "more than {} bytes", cap);
    if (got == 0) return bytes;
  }
}

std::optional<FileStamp> LocalFiles::stamp(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileStamp{.device = facts.st_dev,
                   .inode = facts.st_ino,
                   .size = static_cast<std::uint64_t>(facts.st_size),
                   .changed_ns = facts.st_ctim.tv_sec * kNanoseconds + facts.st_ctim.tv_nsec};
}

}  // namespace wardmote::agent::config
