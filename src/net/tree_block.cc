#include "net/tree_block.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "net/own_folder.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/file_tree.h"

namespace wardmote::net {

using runtime::TreeBlock;
using runtime::TreePlace;

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::size_t kMostInside = 1000;
constexpr std::size_t kDepth = 16;

std::string shown(const TreePlace& at) {
  return at.root + "/" + escape_control(at.below);
}

/// What is at the place, without following a link; nothing: nothing is.
Result<std::optional<mode_t>> mode_at(const TreePlace& at) {
  const auto place = open_own_folder(at, false);
  if (!place && place.error().code == Errc::kMissing) return std::nullopt;
  if (!place) return std::unexpected(place.error());
  struct stat seen{};
  if (::fstatat(place->folder.get(), place->name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0)
    return seen.st_mode;
  if (errno == ENOENT) return std::nullopt;
  return fail_errno(errno, "{}", shown(at));
}

/// The files and the empty folders in a folder. One that cannot be read, or lies too deep, counts
/// as a file: nobody knows what is in it.
void collect(int above, const std::string& name, const std::string& path, std::size_t depth,
             std::vector<std::string>& inside) {
  const UniqueFd folder(::openat(above, name.c_str(), kFolder));
  const auto names = folder && depth <= kDepth ? names_in(folder.get()) : std::nullopt;
  if (!names || names->empty()) {
    inside.push_back(names ? path + "/" : path);
    return;
  }
  for (const std::string& one : *names) {
    if (inside.size() >= kMostInside) return;
    std::string below = path + "/";
    below += one;
    struct stat seen{};
    const bool known = ::fstatat(folder.get(), one.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && S_ISDIR(seen.st_mode)) {
      collect(folder.get(), one, below, depth + 1, inside);
    } else {
      inside.push_back(std::move(below));
    }
  }
}

Result<std::vector<std::string>> all_inside(const TreePlace& at) {
  const auto place = open_own_folder(at, false);
  if (!place) return std::unexpected(place.error());
  std::vector<std::string> inside;
  collect(place->folder.get(), place->name, at.below, 0, inside);
  // It is empty itself.
  if (inside.size() == 1 && inside.front() == at.below + "/") inside.clear();
  return inside;
}

}  // namespace

Result<std::optional<TreeBlock>> block_at(const TreePlace& at) {
  const auto place = open_own_folder(at, false);
  if (!place && place.error().code != Errc::kMissing) return std::unexpected(place.error());
  for (std::size_t end = 0; end != std::string::npos;) {
    end = at.below.find('/', end + 1);
    const TreePlace step{at.root, at.below.substr(0, end)};
    const auto mode = mode_at(step);
    if (!mode) return std::unexpected(mode.error());
    if (!*mode) return std::nullopt;
    if (S_ISLNK(**mode))
      return fail(Errc::kInvalid, "{}: a link, and what it leads to is somebody else's",
                  shown(step));
    const bool folder = S_ISDIR(**mode);
    if (end != std::string::npos && !folder) return TreeBlock{.below = step.below};
    if (end != std::string::npos) continue;
    if (S_ISREG(**mode)) return std::nullopt;
    if (!folder)
      return fail(Errc::kInvalid, "{}: something else than a regular file is there", shown(at));
    auto inside = all_inside(at);
    if (!inside) return std::unexpected(inside.error());
    return TreeBlock{.below = at.below, .folder = true, .inside = *std::move(inside)};
  }
  return std::nullopt;
}

Result<void> remove_folder_at(const TreePlace& at) {
  const auto mode = mode_at(at);
  if (!mode) return std::unexpected(mode.error());
  if (!*mode) return {};
  if (!S_ISDIR(**mode)) return fail(Errc::kInvalid, "{}: no folder", shown(at));
  const auto place = open_own_folder(at, false);
  if (!place) return std::unexpected(place.error());
  const int folder = place->folder.get();
  if (::unlinkat(folder, place->name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return fail_errno(errno, "remove the folder {}", shown(at));
  if (::fsync(folder) != 0) return fail_errno(errno, "{}: sync", shown(at));
  return {};
}

}  // namespace wardmote::net
