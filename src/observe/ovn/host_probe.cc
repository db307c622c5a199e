#include "observe/ovn/host_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/ovsdb_file.h"
#include "codec/proc_stat.h"
#include "judge/host/database_host.h"
#include "judge/host/file.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {

using judge::DatabaseFileKind;
using judge::DatabaseHostFacts;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"database", ParamType::kText, true, "the database file: /var/lib/ovn/ovnnb_db.db"},
    {"log", ParamType::kText, false, "log of the server: /var/log/ovn/ovsdb-server-nb.log"},
    {"pid_file", ParamType::kText, false,
     "fail when the process of this pid file has ended: /run/ovn/ovnnb_db.pid"},
    {"server_id", ParamType::kText, false,
     "fail when the file is that of another server of the cluster (a UUID)"},
    {"min_free", ParamType::kInteger, false,
     "warn when less than this percentage of bytes or inodes is free, and fail below a third of it "
     "(default: 10)"},
    {"min_days", ParamType::kInteger, false,
     "warn when the file system is full in fewer days, and fail below a third of it (default: 3)"},
});

constexpr std::size_t kPiece = 256 << 10;
/// More than databases of OVN have. The kind of a larger one is known, and its header is not.
constexpr std::uint64_t kLargestHeader = 64 << 20;
constexpr std::size_t kTail = 16 << 10;
constexpr std::size_t kMostWords = 5;
constexpr std::size_t kLongestWord = 300;

judge::RaftHeaderFacts to_facts(codec::OvsdbRaftHeader header) {
  return {.database = std::move(header.name),
          .server_id = std::move(header.server_id),
          .cluster_id = std::move(header.cluster_id),
          .address = std::move(header.local_address),
          .joining = header.joining};
}

Result<codec::OvsdbRaftHeader> read_record(runtime::Files& files, const std::string& path,
                                           const codec::OvsdbRecord& record) {
  codec::OvsdbHeaderReader reader;
  for (std::uint64_t at = 0; at < record.bytes && !reader.done();) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, record.bytes - at));
    const Result<std::string> piece = files.read_part(path, record.line + at, most);
    if (!piece) return std::unexpected(piece.error());
    const Result<void> fed = reader.feed(*piece);
    if (!fed) return std::unexpected(fed.error());
    if (piece->size() < most) break;
    at += most;
  }
  return reader.header();
}

/// A line of an OVS log: `2026-11-25T03:06:21.326Z|00230|ovsdb_cs|WARN|…`. A server that ends says
/// why on its standard error, which many supervisors write into the same file.
bool complains(std::string_view line) noexcept {
  return line.starts_with("ovsdb-server: ") || line.contains("|WARN|") || line.contains("|ERR|") ||
         line.contains("|EMER|");
}

}  // namespace

void HostProbe::read_header(const runtime::FileInfo& info) {
  // A file that is written to the end grows; one that is compacted is another file.
  const bool cut = info.size < std::exchange(size_, info.size);
  if (kind_ != DatabaseFileKind::kUnread && info.identity.device == device_ &&
      info.identity.inode == inode_ && !cut)
    return;
  kind_ = DatabaseFileKind::kUnread;
  header_.reset();
  unreadable_.clear();
  const auto damaged = [this](const Error& error) {
    kind_ = DatabaseFileKind::kUnreadable;
    unreadable_ = error.describe();
  };
  const Result<std::string> begin = runtime_.files().read_part(target_.database, 0, kTail);
  // We may not read it: that says nothing of it.
  if (!begin && begin.error().code == Errc::kDenied) return;
  if (!begin) return damaged(begin.error());
  if (begin->empty()) return damaged({Errc::kProtocol, "it is empty"});
  const Result<codec::OvsdbRecord> record = codec::parse_ovsdb_record(*begin);
  if (!record) return damaged(record.error());
  device_ = info.identity.device;
  inode_ = info.identity.inode;
  kind_ = record->clustered ? DatabaseFileKind::kClustered : DatabaseFileKind::kStandalone;
  if (!record->clustered || record->bytes > kLargestHeader) return;
  Result<codec::OvsdbRaftHeader> header = read_record(runtime_.files(), target_.database, *record);
  if (header) {
    header_ = to_facts(*std::move(header));
  } else if (header.error().code == Errc::kProtocol || header.error().code == Errc::kLimit) {
    damaged(header.error());
  } else {
    kind_ = DatabaseFileKind::kUnread;
  }
}

std::optional<bool> HostProbe::runs() const {
  if (target_.pid_file.empty()) return std::nullopt;
  runtime::Files& files = runtime_.files();
  const Result<std::uint32_t> pid = read_pid_file(files, target_.pid_file);
  // A server that ends well removes its pid file.
  if (!pid && pid.error().code == Errc::kMissing) return false;
  if (!pid) return std::nullopt;
  const Result<codec::ProcStat> process = read_process(files, *pid);
  if (process) return process->state != 'Z';
  if (process.error().code != Errc::kMissing || !see_processes(files)) return std::nullopt;
  return false;
}

std::vector<std::string> HostProbe::last_words() const {
  std::vector<std::string> words;
  std::vector<std::string> of_earlier_life;
  if (target_.log.empty()) return words;
  const Result<runtime::FileInfo> info = runtime_.files().info(target_.log);
  if (!info) return words;
  const std::uint64_t from = info->size > kTail ? info->size - kTail : 0;
  const Result<std::string> tail = runtime_.files().read_part(target_.log, from, kTail);
  if (!tail) return words;
  std::string_view rest = *tail;
  if (from != 0) take_until(rest, '\n');  // a part of a line
  while (!rest.empty()) {
    const std::string_view line = trim(take_until(rest, '\n'));
    if (line.contains("|opened log file ")) of_earlier_life = std::exchange(words, {});
    if (!complains(line)) continue;
    if (words.size() == kMostWords) words.erase(words.begin());
    words.push_back(escape_control(line, kLongestWord));
  }
  return words.empty() ? of_earlier_life : words;
}

Result<DatabaseHostFacts> HostProbe::see(runtime::FileInfo info) {
  const Result<runtime::DiskSpace> space = runtime_.files().space(target_.database);
  if (!space) return std::unexpected(space.error());
  read_header(info);
  DatabaseHostFacts facts;
  facts.file_bytes = info.size;
  facts.kind = kind_;
  facts.unreadable = unreadable_;
  facts.header = header_;
  facts.free_bytes = space->free_bytes;
  facts.total_bytes = space->total_bytes;
  facts.free_inodes = space->free_inodes;
  facts.total_inodes = space->total_inodes;
  facts.days_left = trend_.feed(space->free_bytes, runtime_.now());
  facts.runs = runs();
  facts.last_words = last_words();
  return facts;
}

runtime::Task<judge::Observation> HostProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  // On threads of its own: after this, the file system answers.
  const Result<runtime::FileInfo> info = co_await runtime_.files().info(target_.database, deadline);
  Result<DatabaseHostFacts> facts =
      info ? see(*info) : Result<DatabaseHostFacts>(std::unexpected(info.error()));
  observation.ended = runtime_.now();
  if (!facts) {
    observation.reason = reason_of(facts.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::Judgement judgement = judge_database_host(*facts, policy_);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = judge::FileFacts{
      .exists = true, .size = info->size, .age = runtime_.wall_now() - info->modified};
  co_return observation;
}

std::span<const ParamSpec> host_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_host_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  HostProbe::Target target;
  Result<std::string> database = path_param(params, "database");
  if (!database) return std::unexpected(database.error());
  target.database = *std::move(database);
  for (const auto& [name, into] :
       {std::pair("log", &target.log), std::pair("pid_file", &target.pid_file)}) {
    if (!params.contains(name)) continue;
    Result<std::string> path = path_param(params, name);
    if (!path) return std::unexpected(path.error());
    *into = *std::move(path);
  }
  judge::DatabaseHostPolicy policy;
  const auto percent = integer_param(params, "min_free", 0, 100, policy.least_percent);
  if (!percent) return std::unexpected(percent.error());
  policy.least_percent = static_cast<unsigned>(*percent);
  const auto days = integer_param(params, "min_days", 0, 365, 3);
  if (!days) return std::unexpected(days.error());
  policy.least_days = static_cast<double>(*days);
  policy.server_id = param<std::string>(params, "server_id").value_or("");
  return std::make_unique<HostProbe>(runtime, std::move(subject), std::move(target),
                                     std::move(policy));
}

}  // namespace wardmote::observe::ovn
