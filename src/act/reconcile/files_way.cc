#include <algorithm>
#include <cstddef>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/files_target.h"
#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/report.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using Action = judge::reconcile::ObjectReport::Action;
using runtime::Task;
using runtime::TreeBlock;

namespace {

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

/// Whether one of them would have to be a folder for the other to be there.
bool excludes(std::string_view one, std::string_view other) {
  return is_below(one, other) || is_below(other, one);
}

bool has_file_below(const FileRecord& record, std::string_view folder) {
  return std::ranges::any_of(record.files,
                             [folder](const auto& file) { return is_below(file.first, folder); });
}

Error not_everything() {
  return {Errc::kRejected, "a file of ours is in its way, and not everything could be written"};
}

}  // namespace

Task<Result<FilesTarget::Way>> FilesTarget::find_way(const Pass* pass, std::string path) {
  runtime::TreePlace place = at(path);
  const auto block = co_await files_.find_block(std::move(place));
  if (!block) co_return std::unexpected(block.error());
  if (!*block) co_return Way();
  co_return judge_block(*pass, **block);
}

FilesTarget::Way FilesTarget::judge_block(const Pass& pass, const TreeBlock& block) {
  // Who had files in a folder may have made it, and it may go when it is empty.
  const bool had_files = has_file_below(pass.before, block.below);
  if (block.folder && block.inside.empty()) return {.block = block.below, .ours = had_files};
  const std::vector<std::string> things =
      block.folder ? block.inside : std::vector<std::string>{block.below};
  for (const std::string& thing : things) {
    const bool empty_folder = thing.ends_with('/');
    const bool goes = empty_folder ? has_file_below(pass.before, thing.substr(0, thing.size() - 1))
                                   : std::ranges::find(pass.prune.doomed, thing,
                                                       &judge::reconcile::ObjectId::name) !=
                                         pass.prune.doomed.end();
    if (!goes) return {.block = thing};
  }
  return {.block = things.front(), .ours = true};
}

Task<Result<bool>> FilesTarget::is_folder(std::string path) {
  runtime::TreePlace place = at(path);
  const auto block = co_await files_.find_block(std::move(place));
  if (!block) co_return std::unexpected(block.error());
  co_return *block && (*block)->folder;
}

void FilesTarget::give_up_waiting(Pass* pass) {
  std::erase_if(pass->changes, [pass](const Change& change) {
    if (change.waits_for.empty()) return false;
    pass->after.files.erase(change.path);
    pass->report.touched.push_back(
        {.object = change.path,
         .action = Action::kFailed,
         .why = fmt::format("{} is in its way, and nothing is pruned now",
                            escape_control(change.waits_for))});
    return true;
  });
}

Task<void> FilesTarget::write_waiting(Pass* pass, const PassTerms* terms, Change* change,
                                      FileRecord* record) {
  Result<void> cleared;
  if (!pass->report.good()) cleared = std::unexpected(not_everything());
  std::vector<std::string> rest;
  for (const std::string& path : std::exchange(pass->doomed, {})) {
    const bool in_the_way = cleared && excludes(path, change->path);
    if (in_the_way) {
      std::string doomed = path;
      cleared = co_await remove_one(pass, terms, std::move(doomed));
    }
    if (!in_the_way) rest.push_back(path);
    if (in_the_way && cleared) record->files.erase(path);
  }
  pass->doomed = std::move(rest);
  std::string path = change->path;
  if (cleared) cleared = co_await remove_folders(pass, terms, std::move(path));
  if (cleared) {
    co_await write_one(pass, terms, change);
  } else {
    report_written(pass, change, cleared);
  }
}

/// Those that had files of ours in them, from the innermost to the one in the place of the file.
Task<Result<void>> FilesTarget::remove_folders(Pass* pass, const PassTerms* terms,
                                               std::string path) {
  std::set<std::string, std::greater<>> folders;
  for (const auto& [file, digest] : pass->before.files) {
    if (!is_below(file, path)) continue;
    for (std::size_t end = file.rfind('/'); end >= path.size(); end = file.rfind('/', end - 1)) {
      folders.insert(file.substr(0, end));
      if (end == path.size()) break;
    }
  }
  for (const std::string& folder : folders) {
    if (!terms->may_write()) co_return fail(Errc::kClosed, "this agent may not write any more");
    runtime::TreePlace place = at(folder);
    ++pass->report.writes;
    Result<void> removed = co_await files_.remove_folder(std::move(place));
    if (!removed) co_return removed;
  }
  co_return Result<void>();
}

}  // namespace wardmote::act::reconcile
