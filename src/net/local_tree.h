#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/asio_runtime.h"
#include "net/worker.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::net {

/// The files of this machine, on a thread of their own, because a disk may be slow.
class LocalTree final : public runtime::FileTree {
 public:
  explicit LocalTree(AsioRuntime& runtime) : worker_(runtime) {}

  runtime::Task<Result<std::vector<runtime::TreeFile>>> read_tree(
      std::string root, runtime::TreeLimits limits) override;
  runtime::Task<Result<std::optional<std::string>>> read(std::string path,
                                                         std::size_t cap) override;
  runtime::Task<Result<std::optional<std::string>>> read_own(runtime::TreePlace at,
                                                             std::size_t cap) override;
  runtime::Task<Result<void>> replace(runtime::TreePlace at, std::string bytes, int mode) override;
  runtime::Task<Result<void>> remove(runtime::TreePlace at) override;
  runtime::Task<Result<std::optional<runtime::TreeBlock>>> find_block(
      runtime::TreePlace at) override;
  runtime::Task<Result<void>> remove_folder(runtime::TreePlace at) override;
  runtime::Task<Result<std::size_t>> remove_leftovers(runtime::TreePlace at) override;

 private:
  Worker worker_;
};

}  // namespace wardmote::net
