#include "act/reconcile/source.h"

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "act/reconcile/config_map_source.h"
#include "act/reconcile/git_source.h"
#include "act/reconcile/options.h"
#include "base/result.h"
#include "base/text.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using runtime::Task;

namespace {

class FolderSource final : public Source {
 public:
  FolderSource(runtime::FileTree& files, FolderOptions options)
      : files_(files), options_(std::move(options)) {}

  Task<Result<SourceFiles>> read(runtime::Deadline /*deadline*/) override {
    std::string folder = options_.folder;
    auto files = co_await files_.read_tree(std::move(folder), runtime::TreeLimits());
    if (!files) co_return std::unexpected(files.error());
    co_return SourceFiles{.files = *std::move(files), .revision = {}};
  }
  [[nodiscard]] std::string describe() const override { return escape_control(options_.folder); }

 private:
  runtime::FileTree& files_;
  const FolderOptions options_;
};

}  // namespace

std::unique_ptr<Source> make_source(runtime::Runtime& runtime, runtime::FileTree& files,
                                    runtime::HttpClient* http, SourceOptions options) {
  if (auto* const git = std::get_if<GitOptions>(&options))
    return std::make_unique<GitSource>(runtime.processes(), std::move(*git));
  if (auto* const map = std::get_if<ConfigMapOptions>(&options))
    return std::make_unique<ConfigMapSource>(runtime, *http, files, std::move(*map));
  return std::make_unique<FolderSource>(files, std::get<FolderOptions>(std::move(options)));
}

}  // namespace wardmote::act::reconcile
