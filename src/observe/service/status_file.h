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

/// What the files of one service say; its process is read elsewhere.
struct StatusRead {
  judge::ServiceFacts facts;
  WallTime changed;
};

/// The files of one service, read many times. Thread: the core loop.
class StatusFiles {
 public:
  StatusFiles(judge::Supervisor supervisor, std::string folder);

  /// The content of `folder`/supervise. kMissing with the supervisor's name when it does not run,
  /// kDenied, kProtocol when the status is malformed. Takes microseconds and never waits.
  Result<StatusRead> read(runtime::Files& files, WallTime now);
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

 private:
  judge::Supervisor supervisor_;
  std::string folder_;
  std::string fifo_;  ///< the FIFO that only a running supervisor reads
  std::string down_;
  std::string notification_fd_;
  RememberedFile status_;
};

/// The deaths that s6 has recorded; none without a tally.
std::vector<codec::S6Death> read_death_tally(runtime::Files& files, const std::string& folder);

/// What `sv status` prints on standard output, line end included, and its exit code.
struct SvAnswer {
  std::string text;
  int exit = 0;
  friend bool operator==(const SvAnswer&, const SvAnswer&) = default;
};

/// As `sv status NAME` (runit 2.1.2), where NAME is the folder or lies in `svdir`; includes the log
/// service. For programs that compare texts: Calico's bird-live, scripts. Has the errno texts of sv
/// that occur here.
SvAnswer sv_status(runtime::Files& files, const std::string& svdir, const std::string& name,
                   WallTime now);

}  // namespace wardmote::observe::service
