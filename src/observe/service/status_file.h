#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/s6.h"
#include "judge/service/service.h"
#include "observe/host/remembered_file.h"
#include "runtime/files.h"

namespace wardmote::observe::service {

/// What the files of one service say, apart from its process.
struct StatusRead {
  judge::ServiceFacts facts;
  WallTime changed;
};

/// The files of one service, asked again and again. Thread: the core loop.
class StatusFiles {
 public:
  StatusFiles(judge::Supervisor supervisor, std::string folder);

  /// What `folder`/supervise says. kMissing with the supervisor's name when it does not run,
  /// kDenied, kProtocol when the status is none. Takes microseconds and never waits.
  Result<StatusRead> read(runtime::Files& files, WallTime now);
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

 private:
  judge::Supervisor supervisor_;
  std::string folder_;
  std::string fifo_;  ///< that only a running supervisor reads
  std::string down_;
  std::string notification_fd_;
  RememberedFile status_;
};

/// The deaths that s6 remembers; none when there is no tally.
std::vector<codec::S6Death> read_death_tally(runtime::Files& files, const std::string& folder);

/// What `sv status` says on standard output, line end included, and its exit code.
struct SvAnswer {
  std::string text;
  int exit = 0;
  friend bool operator==(const SvAnswer&, const SvAnswer&) = default;
};

/// As `sv status NAME` (runit 2.1.2), where NAME is the folder or lies in `svdir`; its log service
/// included. For those who compare texts: Calico's bird-live, scripts. Texts of errors that sv
/// takes from errno are given for those that occur here.
SvAnswer sv_status(runtime::Files& files, const std::string& svdir, const std::string& name,
                   WallTime now);

}  // namespace wardmote::observe::service
