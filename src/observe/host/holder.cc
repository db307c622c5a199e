#include "observe/host/holder.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "observe/host/process_table.h"
#include "runtime/files.h"
#include "runtime/peer.h"
#include "runtime/stream.h"

namespace wardmote::observe {

std::uint32_t holder_of(const runtime::Stream& stream) {
  const runtime::Peer peer = stream.peer();
  return peer.process && peer.process->id > 0 ? static_cast<std::uint32_t>(peer.process->id) : 0;
}

std::string holder_words(runtime::Files& files, const runtime::Stream& stream,
                         std::string_view program) {
  const std::uint32_t pid = holder_of(stream);
  if (pid == 0) return {};
  const Result<codec::ProcStat> process = read_process(files, pid);
  if (!process || !process->name.starts_with(program)) return {};
  const std::string_view stuck = judge::stuck_words(process->state);
  return fmt::format(
      "process {} ({}) is {}: ", pid, escape_control(process->name),
      stuck.empty() ? fmt::format("in state {}", process->state) : std::string(stuck));
}

}  // namespace wardmote::observe
