#include "net/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/file_tree.h"

namespace wardmote::net {

namespace fs = std::filesystem;
using runtime::TreePlace;

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Result<void> sync(int folder, const std::string& shown) {
  if (::fsync(folder) != 0) return fail_errno(errno, "{}: sync", shown);
  return {};
}

/// Makes `folder` and those above it.
Result<void> make_root(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  const std::string above = fs::path(folder).parent_path();
  if (above.empty() || above == folder) return fail(Errc::kInvalid, "{}: no folder", folder);
  if (auto made = make_root(above); !made) return made;
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return fail_errno(errno, "make {}", folder);
  const UniqueFd opened(::open(above.c_str(), kFolder));
  if (!opened) return fail_errno(errno, "{}", above);
  return sync(opened.get(), above);
}

Result<UniqueFd> step(int above, const std::string& name, const std::string& shown, bool make) {
  UniqueFd folder(::openat(above, name.c_str(), kFolder | O_NOFOLLOW));
  if (!folder && errno == ENOENT && make) {
    if (::mkdirat(above, name.c_str(), 0755) != 0 && errno != EEXIST)
      return fail_errno(errno, "make {}", shown);
    if (auto synced = sync(above, shown); !synced) return std::unexpected(synced.error());
    folder = UniqueFd(::openat(above, name.c_str(), kFolder | O_NOFOLLOW));
  }
  if (folder) return folder;
  const int error = errno;
  struct stat seen{};
  const bool link = (error == ENOTDIR || error == ELOOP) &&
                    ::fstatat(above, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(seen.st_mode);
  if (link)
    return fail(Errc::kInvalid, "{}: a link, and what it leads to is somebody else's",
                escape_control(shown));
  return fail_errno(error, "{}", escape_control(shown));
}

}  // namespace

Result<OwnFolder> open_own_folder(const TreePlace& at, bool make) {
  if (make) {
    if (auto made = make_root(at.root); !made) return std::unexpected(made.error());
  }
  std::vector<std::string_view> names = split(at.below, '/');
  for (const std::string_view name : names) {
    if (name.empty() || name == "." || name == "..")
      return fail(Errc::kInvalid, "{}: no place below a folder", escape_control(at.below));
  }
  UniqueFd folder(::open(at.root.c_str(), kFolder));
  if (!folder) return fail_errno(errno, "{}", at.root);
  std::string shown = at.root;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    shown += "/" + std::string(names[i]);
    auto next = step(folder.get(), std::string(names[i]), shown, make);
    if (!next) return std::unexpected(next.error());
    folder = *std::move(next);
  }
  return OwnFolder{std::move(folder), std::string(names.back())};
}

std::optional<std::vector<std::string>> names_in(int folder) {
  const int again = ::openat(folder, ".", kFolder);
  DIR* const entries = again < 0 ? nullptr : ::fdopendir(again);
  if (entries == nullptr && again >= 0) ::close(again);
  if (entries == nullptr) return std::nullopt;
  std::vector<std::string> names;
  // Nobody else has this stream.
  while (const dirent* const entry = ::readdir(entries)) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(entries);
  return names;
}

}  // namespace wardmote::net
