// What is kept of a copy before it is replaced, and the room that this takes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/pair_manager.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/failover/room.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::failover {

using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kCopyAside = 5min;
constexpr std::size_t kCopiesKept = 3;
constexpr std::size_t kMostNames = 10'000;
constexpr std::string_view kAside = ".before-sync.";

}  // namespace

/// A server whose disk is full answers as if all were well, and fails each write.
void PairManager::look_at_disks() {
  full_.clear();
  for (const std::string& file : {options_.nb_file, options_.sb_file}) {
    const Result<runtime::DiskSpace> space = runtime_.files().space(file);
    if (space && space->free_bytes < judge::failover::kLeastRoom)
      full_ = "the disk of " + file + " is full";
  }
}

/// A backup whose disk becomes full while it copies ends empty and writable. A server that gets a
/// whole copy appends it to the same file, and removes the old rows later.
Result<void> PairManager::enough_room(std::uint64_t copies) {
  std::vector<judge::failover::StoredDatabase> databases;
  for (const std::string& file : {options_.nb_file, options_.sb_file}) {
    const Result<runtime::FileInfo> info = runtime_.files().info(file);
    if (!info) return std::unexpected(info.error());
    const Result<runtime::DiskSpace> space = runtime_.files().space(file);
    if (!space) return std::unexpected(space.error());
    databases.push_back({.file = file,
                         .device = info->identity.device,
                         .bytes = info->size,
                         .free_bytes = space->free_bytes});
  }
  const std::string shortage = judge::failover::shortage(databases, copies);
  if (!shortage.empty()) return fail(Errc::kExhausted, "{}", shortage);
  return {};
}

Task<Result<void>> PairManager::run_tool(std::vector<std::string> argv, std::string what) {
  runtime::ProcessSpec spec;
  spec.argv = std::move(argv);
  const Result<runtime::ProcessExit> ended =
      co_await runtime_.processes().run(std::move(spec), runtime_.deadline_in(kCopyAside));
  if (!ended) co_return with_context(ended, "{}", what);
  if (ended->status != 0)
    co_return fail(Errc::kExhausted, "{}: {}", what, escape_control(trim(ended->standard_error)));
  co_return Result<void>();
}

/// What the copy has may be nowhere else, and is gone as soon as the server is connected.
Task<Result<void>> PairManager::set_copies_aside() {
  std::string stamp = format_utc(runtime_.wall_now());
  std::erase(stamp, ':');
  for (const std::string& file : {options_.nb_file, options_.sb_file}) {
    const std::string aside = fmt::format("{}{}{}", file, kAside, stamp);
    const std::string what = fmt::format("copy {} aside", file);
    std::vector<std::string> copy = {"cp", "--reflink=auto", "--", file, aside};
    Result<void> done = co_await run_tool(std::move(copy), what);
    std::vector<std::string> sync = {"sync", "--", aside};
    if (done) done = co_await run_tool(std::move(sync), what);
    if (!done) {
      std::vector<std::string> part = {"rm", "-f", "--", aside};
      static_cast<void>(co_await run_tool(std::move(part), what));
      co_return done;
    }
    note("copy", "result", fmt::format("{} was copied to {}", file, aside));
    co_await forget_old_copies(file, aside);
  }
  co_return Result<void>();
}

/// All but the newest, which is the one just made, whatever its clock says.
Task<void> PairManager::forget_old_copies(std::string file, std::string made) {
  const std::size_t slash = file.rfind('/') + 1;
  const auto names = runtime_.files().list(slash == 0 ? "." : file.substr(0, slash), kMostNames);
  if (!names) co_return;
  const std::string prefix = file.substr(slash) + std::string(kAside);
  std::vector<std::string> old;
  for (const std::string& name : *names) {
    std::string path = file.substr(0, slash) + name;
    if (name.starts_with(prefix) && path != made) old.push_back(std::move(path));
  }
  std::ranges::sort(old);
  old.resize(old.size() - std::min(old.size(), kCopiesKept - 1));
  if (old.empty()) co_return;
  old.insert(old.begin(), {"rm", "-f", "--"});
  static_cast<void>(co_await run_tool(std::move(old), "remove old copies"));
}

}  // namespace wardmote::act::failover
