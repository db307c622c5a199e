#include "config/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace wardmote::config {
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

Result<void> LocalFiles::replace(const std::string& path, std::string_view bytes) {
  // Through links: the link stays, its target is replaced.
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error);
  struct stat facts{};
  if (error || ::stat(target.c_str(), &facts) != 0) return system_failure(errno);
  std::string beside = target + ".XXXXXX";
  const Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.number < 0) return system_failure(errno);
  const auto size = static_cast<ssize_t>(bytes.size());
  const bool written = ::write(file.number, bytes.data(), bytes.size()) == size &&
                       ::fchmod(file.number, facts.st_mode & 07777) == 0 &&
                       ::fsync(file.number) == 0 && ::rename(beside.c_str(), target.c_str()) == 0;
  if (written) return {};
  const int number = errno;
  ::unlink(beside.c_str());
  return system_failure(number);
}

Result<std::vector<std::string>> LocalFiles::list(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  if (error) return system_failure(error.value());
  std::ranges::sort(names);
  return names;
}

std::optional<FileStamp> LocalFiles::stamp(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileStamp{.device = facts.st_dev,
                   .inode = facts.st_ino,
                   .size = static_cast<std::uint64_t>(facts.st_size),
                   .changed_ns = facts.st_ctim.tv_sec * kNanoseconds + facts.st_ctim.tv_nsec};
}

}  // namespace wardmote::config
