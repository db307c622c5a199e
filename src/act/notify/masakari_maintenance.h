#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/notify/masakari_client.h"
#include "act/notify/masakari_session.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/masakari.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::notify {

/// Whether Masakari says that a host is in maintenance (`on_maintenance`), asked every 30 s. What
/// it said last holds for ten minutes when it does not answer: it would not act on a notification
/// of such a host anyway. Life cycle: start(), stop() before destruction. Thread: the core loop.
class MasakariMaintenance {
 public:
  /// `node` is the name of the host where the source names none.
  MasakariMaintenance(runtime::Runtime& runtime, runtime::HttpClient& http,
                      MasakariSession::Source source, MasakariSession::ReadSecret read_secret,
                      std::string node);

  void start();
  runtime::Task<void> stop();
  [[nodiscard]] bool is_on() const;

 private:
  struct Said {
    bool on = false;
    TimePoint at;
  };

  runtime::Task<void> follow();
  runtime::Task<void> ask(MasakariOptions options);
  /// kMissing: no failover segment has the host.
  runtime::Task<Result<bool>> find_host(std::string name, runtime::Deadline deadline);
  /// All of a list, page by page.
  runtime::Task<Result<std::vector<codec::MasakariItem>>> list(std::string path, std::string name,
                                                               runtime::Deadline deadline);
  void note(const Result<bool>& answer);

  runtime::Runtime& runtime_;
  MasakariSession::Source source_;
  MasakariSession session_;
  MasakariClient* client_ = nullptr;  ///< of the session, while it is asked
  std::string node_;
  std::string segment_;  ///< in which the host was found last
  std::optional<Said> said_;
  bool failing_ = false;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::notify
