#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// A disk in memory.
class FakeTree final : public runtime::FileTree {
 public:
  runtime::Task<Result<std::vector<runtime::TreeFile>>> read_tree(std::string root,
                                                                  runtime::TreeLimits) override {
    std::vector<runtime::TreeFile> found;
    for (const auto& [path, bytes] : files) {
      if (path.starts_with(root + "/")) found.push_back({path.substr(root.size() + 1), bytes});
    }
    co_return found;
  }
  runtime::Task<Result<std::optional<std::string>>> read(std::string path, std::size_t) override {
    const auto found = files.find(path);
    if (found == files.end()) co_return std::optional<std::string>();
    co_return std::optional(found->second);
  }
  runtime::Task<Result<std::optional<std::string>>> read_own(runtime::TreePlace at,
                                                             std::size_t cap) override {
    if (is_folder(at.root + "/" + at.below)) co_return fail(Errc::kInvalid, "no regular file");
    auto found = co_await read(at.root + "/" + at.below, cap);
    co_return found;
  }
  runtime::Task<Result<void>> replace(runtime::TreePlace at, std::string bytes, int mode) override {
    const std::string path = at.root + "/" + at.below;
    if (path == refuses) co_return fail(Errc::kExhausted, "no space");
    if (left > 0 && --left == 0) refuses_all = true;
    if (refuses_all) co_return fail(Errc::kInternal, "the power is gone");
    if (is_folder(path) || !file_above(at).empty()) co_return fail(Errc::kInvalid, "in the way");
    for (std::size_t slash = at.below.find('/'); slash != std::string::npos;
         slash = at.below.find('/', slash + 1))
      folders.insert(at.root + "/" + at.below.substr(0, slash));
    files[path] = std::move(bytes);
    modes.try_emplace(path, mode);
    ++writes;
    if (path == refuses_late) {
      refuses_late.clear();
      co_return fail(Errc::kInternal, "it cannot be made durable");
    }
    co_return Result<void>();
  }
  runtime::Task<Result<void>> remove(runtime::TreePlace at) override {
    if (refuses_all) co_return fail(Errc::kInternal, "the power is gone");
    const std::string path = at.root + "/" + at.below;
    if (left > 0 && --left == 0) refuses_all = true;
    // A folder stays when it is empty.
    if (files.erase(path) > 0 && at.below.contains('/'))
      folders.insert(path.substr(0, path.rfind('/')));
    co_return Result<void>();
  }
  runtime::Task<Result<std::optional<runtime::TreeBlock>>> find_block(
      runtime::TreePlace at) override {
    const std::string path = at.root + "/" + at.below;
    const std::string above = file_above(at);
    if (!above.empty()) co_return runtime::TreeBlock{.below = above};
    if (!is_folder(path)) co_return std::nullopt;
    runtime::TreeBlock block{.below = at.below, .folder = true};
    for (const auto& [file, bytes] : files) {
      if (file.starts_with(path + "/")) block.inside.push_back(file.substr(at.root.size() + 1));
    }
    for (const std::string& folder : folders) {
      if (folder.starts_with(path + "/") && is_empty(folder))
        block.inside.push_back(folder.substr(at.root.size() + 1) + "/");
    }
    co_return block;
  }
  runtime::Task<Result<void>> remove_folder(runtime::TreePlace at) override {
    const std::string path = at.root + "/" + at.below;
    if (refuses_all) co_return fail(Errc::kInternal, "the power is gone");
    if (!is_empty(path)) co_return fail(Errc::kInternal, "something is in it");
    if (left > 0 && --left == 0) refuses_all = true;
    folders.erase(path);
    co_return Result<void>();
  }

  runtime::Task<Result<std::size_t>> remove_leftovers(runtime::TreePlace at) override {
    swept.push_back(at.root + "/" + at.below);
    co_return std::size_t{0};
  }

  /// A new disk.
  void begin_anew() {
    files.clear();
    folders.clear();
    modes.clear();
    refuses.clear();
    left = writes = 0;
    refuses_all = false;
  }

  std::map<std::string, std::string> files;
  std::set<std::string> folders;  ///< some of those that have files in them, all others
  std::map<std::string, int> modes;
  std::string refuses;       ///< this path cannot be written
  std::string refuses_late;  ///< it can, once, and the answer is that it cannot
  int left = 0;              ///< so many writes until the power is gone; 0: it stays
  bool refuses_all = false;  ///< it is gone
  int writes = 0;
  std::vector<std::string> swept;  ///< whose folders were looked into for leftovers

 private:
  [[nodiscard]] bool is_empty(const std::string& path) const {
    const auto inside = [&](const std::string& one) { return one.starts_with(path + "/"); };
    return std::ranges::none_of(files, [&](const auto& file) { return inside(file.first); }) &&
           std::ranges::none_of(folders, inside);
  }
  [[nodiscard]] bool is_folder(const std::string& path) const {
    return folders.contains(path) || !is_empty(path);
  }
  [[nodiscard]] std::string file_above(const runtime::TreePlace& at) const {
    for (std::size_t slash = at.below.find('/'); slash != std::string::npos;
         slash = at.below.find('/', slash + 1)) {
      std::string above = at.below.substr(0, slash);
      if (files.contains(at.root + "/" + above)) return above;
    }
    return "";
  }
};

}  // namespace wardmote::act::reconcile
