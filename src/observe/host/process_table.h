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

/// `/proc/PID/stat`. kMissing when no process has that number, or when we may not know
/// (hidepid).
Result<codec::ProcStat> read_process(runtime::Files& files, std::uint32_t pid);

judge::ProcessFacts to_facts(codec::ProcStat stat, TimePoint now);

/// The number in a pid file, which may have white space around it. kMissing, kDenied, kProtocol.
Result<std::uint32_t> read_pid_file(runtime::Files& files, const std::string& path);

/// Whether the processes of this host are to be seen at all. kDenied, kMissing.
Result<void> see_processes(runtime::Files& files);

/// All processes whose program has this name: as the kernel shortened it to 15 bytes and, for a
/// longer one, as the last part of argv[0]. Sorted by
/// number. kDenied when not a single process is to be seen.
Result<std::vector<codec::ProcStat>> find_processes(runtime::Files& files, std::string_view name);

/// One process that is looked at again and again. Its file stays open where descriptors allow,
/// which costs less, and never shows another process that got the number later. Thread: the core
/// loop.
class ProcessView {
 public:
  /// As read_process().
  Result<codec::ProcStat> read(runtime::Files& files, std::uint32_t pid);

 private:
  std::uint32_t pid_ = 0;
  std::unique_ptr<runtime::OpenFile> file_;  ///< of `pid_`; null when it is not kept
};

/// Resident bytes. kMissing, kProtocol (a zombie has none).
Result<std::uint64_t> read_rss(runtime::Files& files, std::uint32_t pid);

}  // namespace wardmote::observe
