#pragma once

#include <cstddef>
#include <map>
#include <optional>
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
    auto found = co_await read(at.root + "/" + at.below, cap);
    co_return found;
  }
  runtime::Task<Result<void>> replace(runtime::TreePlace at, std::string bytes, int mode) override {
    const std::string path = at.root + "/" + at.below;
    if (path == refuses) co_return fail(Errc::kExhausted, "no space");
    if (left > 0 && --left == 0) refuses_all = true;
    if (refuses_all) co_return fail(Errc::kInternal, "the power is gone");
    files[path] = std::move(bytes);
    modes.try_emplace(path, mode);
    ++writes;
    co_return Result<void>();
  }
  runtime::Task<Result<void>> remove(runtime::TreePlace at) override {
    if (refuses_all) co_return fail(Errc::kInternal, "the power is gone");
    files.erase(at.root + "/" + at.below);
    co_return Result<void>();
  }

  runtime::Task<Result<std::size_t>> remove_leftovers(runtime::TreePlace at) override {
    swept.push_back(at.root + "/" + at.below);
    co_return std::size_t{0};
  }

  /// A new disk.
  void begin_anew() {
    files.clear();
    modes.clear();
    refuses.clear();
    left = writes = 0;
    refuses_all = false;
  }

  std::map<std::string, std::string> files;
  std::map<std::string, int> modes;
  std::string refuses;       ///< this path cannot be written
  int left = 0;              ///< so many writes until the power is gone; 0: it stays
  bool refuses_all = false;  ///< it is gone
  int writes = 0;
  std::vector<std::string> swept;  ///< whose folders were looked into for leftovers
};

}  // namespace wardmote::act::reconcile
