// The process of an ovsdb-server: by its pid file, or by what it was started with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/proc_stat.h"
#include "runtime/files.h"
#include "runtime/runtime.h"

namespace wardmote::act::failover {

using runtime::FileInfo;

namespace {

constexpr std::string_view kServer = "ovsdb-server";
constexpr std::size_t kLargestPidFile = 64;
constexpr std::size_t kLargestCommand = std::size_t{64} << 10;
constexpr std::size_t kMostProcesses = 100'000;
constexpr std::string_view kControlOption = "--unixctl=";

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.size() - name_of(path).size()));
}

bool same_file(const FileInfo& a, const FileInfo& b) noexcept {
  return a.identity.device == b.identity.device && a.identity.inode == b.identity.inode;
}

}  // namespace

/// Whether paths of a process are ours: in a container they lead elsewhere.
bool Replica::same_root(std::uint32_t pid) const {
  const Result<FileInfo> its = runtime_.files().info(fmt::format("/proc/{}/root", pid));
  const Result<FileInfo> ours = runtime_.files().info("/");
  return its && ours && same_file(*its, *ours);
}

/// `here`: the path is one of this mount namespace.
bool Replica::is_control(std::string_view path, bool here) const {
  if (path == files_.control) return true;
  if (name_of(path) != name_of(files_.control)) return false;
  if (!here) return true;
  // Another spelling, as /var/run for /run. The socket itself may be gone.
  const Result<FileInfo> its = runtime_.files().info(folder_of(path));
  const Result<FileInfo> ours = runtime_.files().info(folder_of(files_.control));
  return its && ours && same_file(*its, *ours);
}

/// Nothing when its command line cannot be read.
std::optional<bool> Replica::has_our_control(std::uint32_t pid, bool here) const {
  const Result<std::string> command =
      runtime_.files().read(fmt::format("/proc/{}/cmdline", pid), kLargestCommand);
  if (!command) return std::nullopt;
  return std::ranges::any_of(split(*command, '\0'), [&](std::string_view word) {
    return consume_prefix(word, kControlOption) && is_control(word, here);
  });
}

std::optional<Replica::Pulse> Replica::pulse_of(std::uint32_t pid) const {
  const Result<std::string> raw =
      runtime_.files().read(fmt::format("/proc/{}/stat", pid), codec::kLargestProcStat);
  if (!raw) return std::nullopt;
  const Result<codec::ProcStat> stat = codec::parse_proc_stat(*raw);
  const bool server = stat && stat->name == kServer && stat->state != 'Z' && stat->state != 'X';
  return server ? std::optional(Pulse{{stat->pid, stat->started}, stat->state, stat->cpu})
                : std::nullopt;
}

std::optional<Replica::Pulse> Replica::pulse() const {
  const Result<std::string> text = runtime_.files().read(files_.pid, kLargestPidFile);
  const auto pid = text ? parse_number<std::uint32_t>(trim(*text)) : std::nullopt;
  std::optional<Pulse> found = pid ? pulse_of(*pid) : std::nullopt;
  // The pid file may be left from a server that is gone, and its number be somebody else's by now.
  if (found && has_our_control(*pid, same_root(*pid)).value_or(true)) return found;
  return search();
}

std::optional<Replica::Pulse> Replica::search() const {
  const Result<std::vector<std::string>> processes = runtime_.files().list("/proc", kMostProcesses);
  if (!processes) return std::nullopt;
  std::optional<Pulse> found;
  for (const std::string& name : *processes) {
    const auto pid = parse_number<std::uint32_t>(name);
    if (!pid || !has_our_control(*pid, true).value_or(false) || !same_root(*pid)) continue;
    const std::optional<Pulse> one = pulse_of(*pid);
    // The one that watches over it was started first, with the same words.
    if (one && (!found || one->id.started >= found->id.started)) found = one;
  }
  return found;
}

std::optional<ProcessId> Replica::process() const {
  const std::optional<Pulse> found = pulse();
  return found ? std::optional(found->id) : std::nullopt;
}

}  // namespace wardmote::act::failover
