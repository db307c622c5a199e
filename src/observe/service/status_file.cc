#include "observe/service/status_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/runit.h"
#include "codec/s6.h"
#include "judge/service/service.h"
#include "runtime/files.h"

namespace wardmote::observe::service {

using judge::ServiceFacts;
using judge::Supervisor;

namespace {

/// More than any supervisor writes, so that a longer file is noticed.
constexpr std::size_t kLargestStatus = 64;

ServiceFacts::State state_of(codec::RunitStatus::State state) noexcept {
  switch (state) {
    case codec::RunitStatus::State::kDown: return ServiceFacts::State::kDown;
    case codec::RunitStatus::State::kRun: return ServiceFacts::State::kRun;
    case codec::RunitStatus::State::kFinish: return ServiceFacts::State::kFinish;
  }
  return ServiceFacts::State::kDown;
}

StatusRead from_runit(const codec::RunitStatus& status) {
  StatusRead read;
  read.changed = status.changed;
  read.facts.state = state_of(status.state);
  read.facts.pid = status.pid;
  read.facts.want_up = status.want_up;
  read.facts.paused = status.paused;
  read.facts.got_term = status.got_term;
  return read;
}

StatusRead from_s6(const codec::S6Status& status) {
  using State = ServiceFacts::State;
  StatusRead read;
  read.changed = status.changed;
  const bool runs = status.pid != 0;
  read.facts.state = status.finishing ? State::kFinish : runs ? State::kRun : State::kDown;
  read.facts.pid = static_cast<std::uint32_t>(status.pid);
  read.facts.want_up = status.want_up;
  read.facts.paused = status.paused;
  read.facts.ready = status.ready;
  if (read.facts.state != State::kRun) {
    if (status.last_end.signal != 0) {
      read.facts.last_signal = status.last_end.signal;
    } else {
      read.facts.last_exit_code = status.last_end.exit_code;
    }
  }
  return read;
}

Result<StatusRead> parse(Supervisor supervisor, std::string_view bytes) {
  if (supervisor == Supervisor::kS6) {
    const Result<codec::S6Status> status = codec::parse_s6_status(bytes);
    if (!status) return std::unexpected(status.error());
    return from_s6(*status);
  }
  const Result<codec::RunitStatus> status = supervisor == Supervisor::kRunit
                                                ? codec::parse_runit_status(bytes)
                                                : codec::parse_daemontools_status(bytes);
  if (!status) return std::unexpected(status.error());
  return from_runit(*status);
}

/// The FIFO that only a running supervisor reads.
std::string_view fifo_of(Supervisor supervisor) noexcept {
  return supervisor == Supervisor::kS6 ? "supervise/control" : "supervise/ok";
}

bool exists(runtime::Files& files, const std::string& path) {
  return files.info(path).has_value();
}

/// runit's error_str() for the errors with which opening its files may fail here.
std::string_view runit_words(const Error& error) noexcept {
  switch (error.code) {
    case Errc::kMissing: return "file does not exist";
    case Errc::kDenied: return "access denied";
    case Errc::kInvalid: return "is a directory";
    default: return "input/output error";
  }
}

/// One service in the output of sv: its line, or why there is none.
SvAnswer sv_one(runtime::Files& files, const std::string& folder, const std::string& shown,
                const std::string& called, WallTime now) {
  const auto warning = [&](std::string_view what, const Error& error) {
    return SvAnswer{fmt::format("warning: {}: {}: {}", shown, what, runit_words(error)), 1};
  };
  const Result<bool> supervised = files.has_reader(folder + "/supervise/ok");
  if (!supervised) return warning("unable to open supervise/ok", supervised.error());
  if (!*supervised) return {fmt::format("fail: {}: runsv not running", shown), 1};
  Result<std::string> bytes = files.read(folder + "/supervise/status", kLargestStatus);
  if (!bytes) {
    const bool opened = bytes.error().code == Errc::kInvalid;
    return warning(opened ? "unable to read supervise/status" : "unable to open supervise/status",
                   bytes.error());
  }
  if (bytes->size() < codec::kRunitStatusSize)
    return {fmt::format("warning: {}: unable to read supervise/status: bad format", shown), 1};
  const bool normally_up = !exists(files, folder + "/down");
  return {codec::sv_status_text(*bytes, called, normally_up, now), 0};
}

}  // namespace

StatusFiles::StatusFiles(Supervisor supervisor, std::string folder)
    : supervisor_(supervisor),
      folder_(std::move(folder)),
      fifo_(fmt::format("{}/{}", folder_, fifo_of(supervisor))),
      down_(folder_ + "/down"),
      notification_fd_(folder_ + "/notification-fd"),
      status_(folder_ + "/supervise/status", kLargestStatus) {}

Result<StatusRead> StatusFiles::read(runtime::Files& files, WallTime now) {
  const Result<bool> supervised = files.has_reader(fifo_);
  if (!supervised) return std::unexpected(supervised.error());
  if (!*supervised)
    return fail(Errc::kMissing, "{}: {} is not running, nobody watches the service", folder_,
                program_of(supervisor_));
  const Result<std::string_view> bytes = status_.read(files, now);
  if (!bytes) return std::unexpected(bytes.error());
  Result<StatusRead> read = parse(supervisor_, *bytes);
  if (!read) return with_context(read, "{}", status_.path());
  ServiceFacts& facts = read->facts;
  facts.supervisor = supervisor_;
  facts.in_state = std::max(now - read->changed, Duration::zero());
  facts.normally_up = !exists(files, down_);
  // Only a service with this file reports that it is ready.
  const bool tells =
      facts.ready && facts.state == ServiceFacts::State::kRun && exists(files, notification_fd_);
  if (!tells) facts.ready.reset();
  return read;
}

std::vector<codec::S6Death> read_death_tally(runtime::Files& files, const std::string& folder) {
  const auto bytes = files.read(folder + "/supervise/death_tally", codec::kLargestS6Tally);
  if (!bytes) return {};
  Result<std::vector<codec::S6Death>> deaths = codec::parse_s6_death_tally(*bytes);
  if (!deaths) return {};
  return *std::move(deaths);
}

SvAnswer sv_status(runtime::Files& files, const std::string& svdir, const std::string& name,
                   WallTime now) {
  const std::string folder =
      name.starts_with('/') || name.starts_with('.') ? name : svdir + "/" + name;
  const Result<runtime::FileInfo> info = files.info(folder);
  if (!info || info->kind != runtime::FileInfo::Kind::kFolder) {
    const std::string_view why = info ? "not a directory" : runit_words(info.error());
    return {fmt::format("fail: {}: unable to change to service directory: {}\n", name, why), 1};
  }
  SvAnswer answer = sv_one(files, folder, name, name, now);
  if (answer.exit == 0 && exists(files, folder + "/log")) {
    const SvAnswer log = sv_one(files, folder + "/log", name + ": log", "log", now);
    answer.text += "; " + log.text;
    answer.exit = log.exit;  // sv.c status(): the last part is that of the log service
  }
  answer.text += '\n';
  return answer;
}

}  // namespace wardmote::observe::service
