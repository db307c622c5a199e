#include "observe/bird/calico_query.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "codec/calico_table.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

using codec::CalicoTable;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 2s;  ///< for each line
/// A unix socket connects at once; only a full queue takes longer, and Go does not wait for that.
constexpr Duration kConnect = 200ms;

/// Go's texts for the errors of connect(2) that occur here.
std::string_view go_words(Errc code) noexcept {
  switch (code) {
    case Errc::kMissing: return "connect: no such file or directory";
    case Errc::kRefused: return "connect: connection refused";
    case Errc::kDenied: return "connect: permission denied";
    case Errc::kTimeout: return "connect: resource temporarily unavailable";
    case Errc::kProtocol: return "connect: protocol wrong type for socket";
    default: return "connect: invalid argument";
  }
}

Deadline sooner(Deadline deadline, TimePoint at) noexcept {
  return {std::min(deadline.at, at)};
}

/// Reads lines until the table has enough, and says how it ended.
Task<CalicoReading> scan(Runtime* runtime, runtime::Stream* stream, std::string path,
                         CalicoTable::Query query, bool ipv6, Deadline deadline) {
  CalicoTable table(query, ipv6);
  codec::GoLines lines;
  std::optional<Error> ended;
  CalicoTable::Step step = CalicoTable::Step::kMore;
  Deadline patience = sooner(deadline, runtime->now() + kPatience);
  while (step == CalicoTable::Step::kMore) {
    const std::optional<std::string> line = lines.next();
    if (line) {
      step = table.read(*line);
      patience = sooner(deadline, runtime->now() + kPatience);
      continue;
    }
    if (ended || lines.too_long()) break;
    std::array<char, 4096> chunk;
    const Result<std::size_t> got = co_await stream->read_some(chunk, patience);
    if (got) {
      lines.add(std::string_view(chunk.data(), *got));
    } else {
      ended = got.error();
      lines.end();
    }
  }
  CalicoReading reading;
  reading.peers = table.peers();
  reading.restarting = table.restarting();
  reading.panics = step == CalicoTable::Step::kPanic;
  reading.error = table.error();
  // Go returns an incomplete last line as a line, and still reports why no more came.
  if (!reading.error.empty() || (step == CalicoTable::Step::kDone && !ended)) co_return reading;
  if (lines.too_long()) {
    reading.error = "bufio.Scanner: token too long";
  } else if (ended && ended->code == Errc::kTimeout) {
    reading.error = fmt::format("read unix @->{}: i/o timeout", path);
  } else if (ended && ended->context.contains("reset")) {
    reading.error = fmt::format("read unix @->{}: read: connection reset by peer", path);
  }
  co_return reading;
}

}  // namespace

Task<CalicoReading> calico_query(Runtime* runtime, std::string folder, CalicoTable::Query query,
                                 bool ipv6, Deadline deadline) {
  const std::string name = ipv6 ? "bird6.ctl" : "bird.ctl";
  std::string path = folder + "/calico/" + name;
  const Result<runtime::FileInfo> first = runtime->files().info(path);
  const Result<runtime::FileInfo> parent = runtime->files().info(folder + "/calico");
  // ENOTDIR is an error of its own, unlike ENOENT.
  const bool no_folder = !first && parent && parent->kind != runtime::FileInfo::Kind::kFolder;
  if (no_folder || (!first && first.error().code != Errc::kMissing)) {
    CalicoReading reading;
    reading.panics = true;
    reading.error = "panic: runtime error: invalid memory address or nil pointer dereference";
    co_return reading;
  }
  if (!first || first->kind == runtime::FileInfo::Kind::kFolder) path = folder + "/bird/" + name;

  const runtime::Endpoint at = runtime::Endpoint::unix_socket(path);
  const auto stream = co_await runtime->connect(at, sooner(deadline, runtime->now() + kConnect));
  if (!stream) {
    CalicoReading reading;
    reading.error =
        fmt::format("error querying BIRD: unable to connect to BIRDv{} socket: dial unix {}: {}",
                    ipv6 ? 6 : 4, path, go_words(stream.error().code));
    co_return reading;
  }
  const std::string_view command =
      query == CalicoTable::Query::kPeers ? "show protocols\n" : "show status\n";
  const Result<void> sent = co_await (*stream)->write(command, deadline);
  if (!sent) {
    CalicoReading reading;
    reading.error = fmt::format(
        "error executing command: unable to write to BIRD socket: write unix @->{}: write: broken "
        "pipe",
        path);
    co_return reading;
  }
  CalicoReading reading = co_await scan(runtime, stream->get(), path, query, ipv6, deadline);
  if (query == CalicoTable::Query::kPeers && !reading.error.empty() && !reading.panics)
    reading.error.insert(0, "error executing command: ");
  co_return reading;
}

}  // namespace wardmote::observe::bird
