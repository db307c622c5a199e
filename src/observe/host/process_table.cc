#include "observe/host/process_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "runtime/files.h"

namespace wardmote::observe {

using codec::ProcStat;

namespace {

/// How much of a program's name the kernel keeps (TASK_COMM_LEN, without the end).
constexpr std::size_t kKernelName = 15;
constexpr std::size_t kLargestPidFile = 64;
constexpr std::size_t kLargestStatus = 16 << 10;
constexpr std::size_t kLargestCommandLine = 1 << 20;
/// Linux allows four million pids.
constexpr std::size_t kMostProcesses = std::size_t{1} << 22;

/// Whether the last part of argv[0] is `name`.
bool is_called(runtime::Files& files, std::uint32_t pid, std::string_view name) {
  const auto line = files.read(fmt::format("/proc/{}/cmdline", pid), kLargestCommandLine);
  if (!line) return false;
  std::string_view rest = *line;
  const std::string_view program = take_until(rest, '\0');
  return program.substr(program.rfind('/') + 1) == name;
}

std::string path_of(std::uint32_t pid) {
  return fmt::format("/proc/{}/stat", pid);
}

Result<ProcStat> parse(const Result<std::string>& text, std::uint32_t pid) {
  if (!text) return std::unexpected(text.error());
  Result<ProcStat> stat = codec::parse_proc_stat(*text);
  if (!stat) return with_context(stat, "{}", path_of(pid));
  return stat;
}

std::unexpected<Error> nothing_is_seen() {
  return fail(Errc::kDenied, "/proc shows no process at all, not even this one: is it mounted?");
}

}  // namespace

Result<ProcStat> read_process(runtime::Files& files, std::uint32_t pid) {
  return parse(files.read(path_of(pid), codec::kLargestProcStat), pid);
}

Result<ProcStat> ProcessView::read(runtime::Files& files, std::uint32_t pid) {
  if (file_ && pid == pid_) {
    Result<ProcStat> known = parse(file_->read(codec::kLargestProcStat), pid);
    if (known) return known;
  }
  // It is another process, or it has ended and its pid may be reused.
  file_.reset();
  pid_ = pid;
  Result<std::unique_ptr<runtime::OpenFile>> opened = files.open(path_of(pid));
  if (!opened && opened.error().code == Errc::kExhausted) return read_process(files, pid);
  if (!opened) return std::unexpected(opened.error());
  file_ = *std::move(opened);
  return parse(file_->read(codec::kLargestProcStat), pid);
}

judge::ProcessFacts to_facts(ProcStat stat, TimePoint now) {
  judge::ProcessFacts facts;
  facts.pid = stat.pid;
  facts.name = std::move(stat.name);
  facts.state = stat.state;
  facts.age = std::max(now - stat.started, Duration::zero());
  facts.parent = stat.parent;
  return facts;
}

Result<std::uint32_t> read_pid_file(runtime::Files& files, const std::string& path) {
  const Result<std::string> text = files.read(path, kLargestPidFile);
  if (!text) return with_context(text, "pid file");
  const auto pid = parse_number<std::uint32_t>(trim(*text));
  if (!pid || *pid == 0) return fail(Errc::kProtocol, "pid file {}: it holds no number", path);
  return *pid;
}

Result<void> see_processes(runtime::Files& files) {
  const Result<std::vector<std::string>> entries = files.list("/proc", kMostProcesses);
  if (!entries) return with_context(entries, "/proc");
  const bool sees_any = std::ranges::any_of(*entries, [](const std::string& entry) {
    return parse_number<std::uint32_t>(entry).has_value();
  });
  if (!sees_any) return nothing_is_seen();
  return {};
}

Result<std::vector<ProcStat>> find_processes(runtime::Files& files, std::string_view name) {
  const Result<std::vector<std::string>> entries = files.list("/proc", kMostProcesses);
  if (!entries) return std::unexpected(entries.error());
  std::vector<ProcStat> found;
  bool sees_any = false;
  for (const std::string& entry : *entries) {
    const auto pid = parse_number<std::uint32_t>(entry);
    if (!pid) continue;
    sees_any = true;
    Result<ProcStat> stat = read_process(files, *pid);
    // The process may have ended meanwhile.
    if (!stat || stat->name != name.substr(0, kKernelName)) continue;
    if (name.size() > kKernelName && !is_called(files, *pid, name)) continue;
    found.push_back(*std::move(stat));
  }
  if (!sees_any) return nothing_is_seen();
  std::ranges::sort(found, {}, &ProcStat::pid);
  return found;
}

Result<std::uint64_t> read_rss(runtime::Files& files, std::uint32_t pid) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  const Result<std::string> text = files.read(path, kLargestStatus);
  if (!text) return std::unexpected(text.error());
  const Result<std::uint64_t> rss = codec::parse_proc_rss(*text);
  if (!rss) return with_context(rss, "{}", path);
  return rss;
}

}  // namespace wardmote::observe
