#include "net/local_tree.h"

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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace fs = std::filesystem;
using runtime::Task;
using runtime::TreeFile;
using runtime::TreeLimits;

namespace {

constexpr std::size_t kChunk = 64 << 10;

/// What tells one state of a file or folder from another without reading it.
using Stamp = std::tuple<std::string, dev_t, ino_t, std::int64_t, std::int64_t>;

Result<std::string> read_regular(const std::string& path, std::size_t cap) {
  // Not blocking: somebody may have put a pipe there.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail_errno(errno, "{}", path);
  struct stat seen{};
  if (::fstat(file.get(), &seen) != 0) return fail_errno(errno, "{}", path);
  if (!S_ISREG(seen.st_mode)) return fail(Errc::kInvalid, "{}: no regular file", path);
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunk);
    const ssize_t got = ::read(file.get(), bytes.data() + before, kChunk);
    const int error = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error != EINTR) return fail_errno(error, "{}: read", path);
    if (bytes.size() > cap) return fail(Errc::kLimit, "{}: more than {} bytes", path, cap);
    if (got == 0) return bytes;
  }
}

/// Walks a tree once.
class Walk {
 public:
  Walk(std::string root, const TreeLimits& limits) : root_(std::move(root)), limits_(limits) {}

  Result<void> run(bool with_bytes) {
    with_bytes_ = with_bytes;
    return folder("", 0);
  }
  [[nodiscard]] const std::vector<Stamp>& stamps() const { return stamps_; }
  std::vector<TreeFile> take() && {
    std::ranges::sort(files_, {}, &TreeFile::path);
    return std::move(files_);
  }

 private:
  Result<void> folder(const std::string& below, std::size_t depth) {
    const std::string path = below.empty() ? root_ : root_ + "/" + below;
    if (depth > limits_.depth) return fail(Errc::kLimit, "{}: deeper than {}", path, limits_.depth);
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      std::string name = entry->path().filename();
      if (name.starts_with('.')) continue;
      if (names.size() == limits_.files)
        return fail(Errc::kLimit, "{}: more than {} names", path, limits_.files);
      names.push_back(std::move(name));
    }
    if (error) return fail_errno(error.value(), "{}", path);
    std::ranges::sort(names);
    const std::string prefix = below.empty() ? "" : below + "/";
    for (const std::string& name : names) {
      std::string entry = prefix;
      entry += name;
      const Result<void> done = entry_at(entry, depth);
      if (!done) return done;
    }
    return {};
  }

  Result<void> entry_at(const std::string& below, std::size_t depth) {
    const std::string path = root_ + "/" + below;
    struct stat seen{};
    if (::stat(path.c_str(), &seen) != 0) return fail_errno(errno, "{}", escape_control(path));
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    stamps_.emplace_back(below, seen.st_dev, seen.st_ino, seen.st_size,
                         (seen.st_ctim.tv_sec * kNanoseconds) + seen.st_ctim.tv_nsec);
    if (S_ISDIR(seen.st_mode)) return folder(below, depth + 1);
    if (!S_ISREG(seen.st_mode))
      return fail(Errc::kInvalid, "{}: neither a file nor a folder", escape_control(path));
    if (!with_bytes_) return {};
    if (files_.size() == limits_.files)
      return fail(Errc::kLimit, "{}: more than {} files", root_, limits_.files);
    auto bytes = read_regular(path, limits_.file_bytes);
    if (!bytes) return std::unexpected(bytes.error());
    all_bytes_ += bytes->size();
    if (all_bytes_ > limits_.all_bytes)
      return fail(Errc::kLimit, "{}: more than {} bytes", root_, limits_.all_bytes);
    files_.push_back({below, *std::move(bytes)});
    return {};
  }

  const std::string root_;
  const TreeLimits& limits_;
  bool with_bytes_ = true;
  std::size_t all_bytes_ = 0;
  std::vector<Stamp> stamps_;
  std::vector<TreeFile> files_;
};

Result<std::vector<TreeFile>> read_all(const std::string& root, const TreeLimits& limits) {
  Walk reading(root, limits);
  if (auto done = reading.run(true); !done) return std::unexpected(done.error());
  // Half an old state with half a new one must not be taken for what somebody wants.
  Walk again(root, limits);
  if (auto done = again.run(false); !done) return std::unexpected(done.error());
  if (reading.stamps() != again.stamps())
    return fail(Errc::kRejected, "{}: it changed while it was read", root);
  return std::move(reading).take();
}

Result<void> sync_folder(const std::string& folder) {
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return fail_errno(errno, "{}", folder);
  if (::fsync(opened.get()) != 0) return fail_errno(errno, "{}: sync", folder);
  return {};
}

/// Makes `folder` and those above it, so that a loss of power does not lose them.
Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  const std::string above = fs::path(folder).parent_path();
  if (above.empty() || above == folder) return fail(Errc::kInvalid, "{}: no folder", folder);
  if (auto made = make_folder(above); !made) return made;
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return fail_errno(errno, "make {}", folder);
  return sync_folder(above);
}

Result<void> write_whole(int fd, const std::string& bytes, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail_errno(errno, "write {}", path);
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Result<void> put(const std::string& path, const std::string& bytes, int mode) {
  const std::string folder = fs::path(path).parent_path();
  if (auto made = make_folder(folder); !made) return made;
  struct stat before{};
  const bool there = ::lstat(path.c_str(), &before) == 0;
  if (there && !S_ISREG(before.st_mode))
    return fail(Errc::kInvalid, "{}: something else than a regular file is there", path);
  // Hidden, so that no reader of the folder takes it for a file of its own.
  std::string beside = folder + "/.wardmote-XXXXXX";
  const UniqueFd file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file) return fail_errno(errno, "write {}", path);
  Result<void> done = write_whole(file.get(), bytes, path);
  const mode_t rights = there ? before.st_mode & 07777 : static_cast<mode_t>(mode);
  if (done && there && ::fchown(file.get(), before.st_uid, before.st_gid) != 0)
    done = fail_errno(errno, "{}: owner", path);
  if (done && ::fchmod(file.get(), rights) != 0)
    done = fail_errno(errno, "{}: access rights", path);
  if (done && ::fsync(file.get()) != 0) done = fail_errno(errno, "{}: sync", path);
  if (done && std::rename(beside.c_str(), path.c_str()) != 0)
    done = fail_errno(errno, "replace {}", path);
  if (!done) {
    ::unlink(beside.c_str());
    return done;
  }
  return sync_folder(folder);
}

Result<void> take_away(const std::string& path) {
  struct stat seen{};
  if (::lstat(path.c_str(), &seen) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return fail_errno(errno, "{}", path);
  }
  if (!S_ISREG(seen.st_mode))
    return fail(Errc::kInvalid, "{}: something else than a regular file is there", path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "remove {}", path);
  return sync_folder(fs::path(path).parent_path());
}

}  // namespace

// The results lie on the heap, shared with the work: a cancelled task waits for it, and its frame
// may unwind first.
Task<Result<std::vector<TreeFile>>> LocalTree::read_tree(std::string root, TreeLimits limits) {
  auto result = std::make_shared<Result<std::vector<TreeFile>>>();
  std::function<void()> work = [result, root, limits] { *result = read_all(root, limits); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<std::optional<std::string>>> LocalTree::read(std::string path, std::size_t cap) {
  auto result = std::make_shared<Result<std::optional<std::string>>>();
  std::function<void()> work = [result, path, cap] {
    auto bytes = read_regular(path, cap);
    if (bytes) {
      *result = *std::move(bytes);
    } else if (bytes.error().code != Errc::kMissing) {
      *result = std::unexpected(bytes.error());
    }
  };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<void>> LocalTree::replace(std::string path, std::string bytes, int mode) {
  auto result = std::make_shared<Result<void>>();
  std::function<void()> work = [result, path, bytes, mode] { *result = put(path, bytes, mode); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<void>> LocalTree::remove(std::string path) {
  auto result = std::make_shared<Result<void>>();
  std::function<void()> work = [result, path] { *result = take_away(path); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

}  // namespace wardmote::net
