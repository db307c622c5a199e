#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "runtime/files.h"

namespace wardmote::observe {

/// `/proc/PID/stat`. kMissing when no process has that pid, or when we may not see it (hidepid).
Result<codec::ProcStat> read_process(runtime::Files& files, std::uint32_t pid);

judge::ProcessFacts to_facts(codec::ProcStat stat, TimePoint now);

/// The pid in a pid file, which may have white space around it. kMissing, kDenied, kProtocol.
Result<std::uint32_t> read_pid_file(runtime::Files& files, const std::string& path);

/// Whether this process can see the processes of the host. kDenied, kMissing.
Result<void> see_processes(runtime::Files& files);

/// All processes whose program has this name: as the kernel shortened it to 15 bytes and, for a
/// longer name, as the last part of argv[0]. Sorted by pid. kDenied when not a single process is
/// visible.
Result<std::vector<codec::ProcStat>> find_processes(runtime::Files& files, std::string_view name);

/// One process that is read many times. Its file stays open if descriptors allow, which costs less,
/// and never shows a later process with the same pid. Thread: the core loop.
class ProcessView {
 public:
  /// As read_process().
  Result<codec::ProcStat> read(runtime::Files& files, std::uint32_t pid);

 private:
  std::uint32_t pid_ = 0;
  /// the open file of `pid_`; null when it is not kept open
  std::unique_ptr<runtime::OpenFile> file_;
};

/// Resident bytes. kMissing, kProtocol (a zombie has none).
Result<std::uint64_t> read_rss(runtime::Files& files, std::uint32_t pid);

}  // namespace wardmote::observe
