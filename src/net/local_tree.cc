#include "net/local_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "net/own_folder.h"
#include "net/system_error.h"
#include "net/tree_block.h"
#include "net/unique_fd.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace fs = std::filesystem;
using runtime::Task;
using runtime::TreeFile;
using runtime::TreeLimits;
using runtime::TreePlace;

namespace {

constexpr std::size_t kChunk = 64 << 10;

/// What tells one state of a file or folder from another without reading it.
using Stamp = std::tuple<std::string, dev_t, ino_t, std::int64_t, std::int64_t>;

/// `shown`: what the file is called in errors.
Result<std::string> read_all_of(const UniqueFd& file, const std::string& shown, std::size_t cap) {
  struct stat seen{};
  if (::fstat(file.get(), &seen) != 0) return fail_errno(errno, "{}", shown);
  if (!S_ISREG(seen.st_mode)) return fail(Errc::kInvalid, "{}: no regular file", shown);
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunk);
    const ssize_t got = ::read(file.get(), bytes.data() + before, kChunk);
    const int error = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error != EINTR) return fail_errno(error, "{}: read", shown);
    if (bytes.size() > cap) return fail(Errc::kLimit, "{}: more than {} bytes", shown, cap);
    if (got == 0) return bytes;
  }
}

// Not blocking: somebody may have put a pipe there.
constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<std::string> read_regular(const std::string& path, std::size_t cap) {
  const UniqueFd file(::open(path.c_str(), kRead));
  if (!file) return fail_errno(errno, "{}", path);
  return read_all_of(file, path, cap);
}

std::string shown(const TreePlace& at) {
  return at.root + "/" + escape_control(at.below);
}

Result<void> no_link(const TreePlace& at) {
  return fail(Errc::kInvalid, "{}: something else than a regular file is there", shown(at));
}

Result<std::string> read_own_file(const TreePlace& at, std::size_t cap) {
  const auto place = open_own_folder(at, false);
  if (!place) return std::unexpected(place.error());
  const UniqueFd file(::openat(place->folder.get(), place->name.c_str(), kRead | O_NOFOLLOW));
  if (!file && errno == ELOOP) return std::unexpected(no_link(at).error());
  if (!file) return fail_errno(errno, "{}", shown(at));
  return read_all_of(file, shown(at), cap);
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

constexpr std::string_view kBeside = ".wardmote-";
constexpr std::size_t kBesideDigits = 16;

/// Hidden, so that no reader of the folder takes it for a file of its own.
std::string name_beside() {
  std::uint64_t number = 0;
  (void)::getrandom(&number, sizeof number, 0);
  return fmt::format("{}{:016x}", kBeside, number);
}

/// Whether name_beside() may have made it.
bool is_beside(std::string_view name) {
  return consume_prefix(name, kBeside) && name.size() == kBesideDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string> names_beside(int folder) {
  std::vector<std::string> names = names_in(folder).value_or(std::vector<std::string>());
  std::erase_if(names, [](const std::string& name) { return !is_beside(name); });
  return names;
}

Result<std::size_t> sweep(const TreePlace& at) {
  const auto place = open_own_folder(at, false);
  if (!place && place.error().code == Errc::kMissing) return 0;
  if (!place) return std::unexpected(place.error());
  const int folder = place->folder.get();
  std::size_t removed = 0;
  for (const std::string& name : names_beside(folder)) {
    struct stat seen{};
    if (::fstatat(folder, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(seen.st_mode)) continue;
    if (::unlinkat(folder, name.c_str(), 0) != 0) return fail_errno(errno, "remove {}", name);
    ++removed;
  }
  return removed;
}

Result<void> put(const TreePlace& at, const std::string& bytes, int mode) {
  const auto place = open_own_folder(at, true);
  if (!place) return std::unexpected(place.error());
  const int folder = place->folder.get();
  struct stat before{};
  const bool there = ::fstatat(folder, place->name.c_str(), &before, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISREG(before.st_mode)) return no_link(at);
  const std::string beside = name_beside();
  const UniqueFd file(
      ::openat(folder, beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(errno, "write {}", shown(at));
  Result<void> done = write_whole(file.get(), bytes, shown(at));
  const mode_t rights = there ? before.st_mode & 07777 : static_cast<mode_t>(mode);
  if (done && there && ::fchown(file.get(), before.st_uid, before.st_gid) != 0)
    done = fail_errno(errno, "{}: owner", shown(at));
  if (done && ::fchmod(file.get(), rights) != 0)
    done = fail_errno(errno, "{}: access rights", shown(at));
  if (done && ::fsync(file.get()) != 0) done = fail_errno(errno, "{}: sync", shown(at));
  if (done && ::renameat(folder, beside.c_str(), folder, place->name.c_str()) != 0)
    done = fail_errno(errno, "replace {}", shown(at));
  if (!done) {
    ::unlinkat(folder, beside.c_str(), 0);
    return done;
  }
  if (::fsync(folder) != 0) return fail_errno(errno, "{}: sync", shown(at));
  return {};
}

Result<void> take_away(const TreePlace& at) {
  const auto place = open_own_folder(at, false);
  if (!place && place.error().code == Errc::kMissing) return {};
  if (!place) return std::unexpected(place.error());
  const int folder = place->folder.get();
  struct stat seen{};
  if (::fstatat(folder, place->name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno(errno, "{}", shown(at));
  }
  if (!S_ISREG(seen.st_mode)) return no_link(at);
  if (::unlinkat(folder, place->name.c_str(), 0) != 0 && errno != ENOENT)
    return fail_errno(errno, "remove {}", shown(at));
  if (::fsync(folder) != 0) return fail_errno(errno, "{}: sync", shown(at));
  return {};
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

namespace {

/// A file that is not there is none, and no error.
Result<std::optional<std::string>> if_there(Result<std::string> bytes) {
  if (bytes) return *std::move(bytes);
  if (bytes.error().code == Errc::kMissing) return std::nullopt;
  return std::unexpected(bytes.error());
}

}  // namespace

Task<Result<std::optional<std::string>>> LocalTree::read(std::string path, std::size_t cap) {
  auto result = std::make_shared<Result<std::optional<std::string>>>();
  std::function<void()> work = [result, path, cap] { *result = if_there(read_regular(path, cap)); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<std::optional<std::string>>> LocalTree::read_own(TreePlace at, std::size_t cap) {
  auto result = std::make_shared<Result<std::optional<std::string>>>();
  std::function<void()> work = [result, at, cap] { *result = if_there(read_own_file(at, cap)); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<void>> LocalTree::replace(TreePlace at, std::string bytes, int mode) {
  auto result = std::make_shared<Result<void>>();
  std::function<void()> work = [result, at, bytes, mode] { *result = put(at, bytes, mode); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<void>> LocalTree::remove(TreePlace at) {
  auto result = std::make_shared<Result<void>>();
  std::function<void()> work = [result, at] { *result = take_away(at); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<std::optional<runtime::TreeBlock>>> LocalTree::find_block(TreePlace at) {
  auto result = std::make_shared<Result<std::optional<runtime::TreeBlock>>>();
  std::function<void()> work = [result, at] { *result = block_at(at); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<void>> LocalTree::remove_folder(TreePlace at) {
  auto result = std::make_shared<Result<void>>();
  std::function<void()> work = [result, at] { *result = remove_folder_at(at); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

Task<Result<std::size_t>> LocalTree::remove_leftovers(TreePlace at) {
  auto result = std::make_shared<Result<std::size_t>>();
  std::function<void()> work = [result, at] { *result = sweep(at); };
  co_await worker_.run(std::move(work));
  co_return std::move(*result);
}

}  // namespace wardmote::net
