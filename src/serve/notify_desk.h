#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"
#include "runtime/http.h"
#include "serve/route.h"

namespace wardmote::serve {

/// How telling one receiver has gone since the agent's start.
struct ReceiverState {
  std::string kind;  ///< `webhook`, …; never its address, which may carry a secret
  std::uint64_t delivered = 0;
  std::uint64_t refused = 0;
  std::uint64_t dead = 0;
  std::uint64_t repeated = 0;  ///< that an earlier life of the agent may have told already
  std::string last_key;        ///< of the notice that fared last
  bool last_good = false;
  std::string last_reason;  ///< why not
  std::optional<TimePoint> last_at;
};

/// Where is kept who is told of what, and orders about it given.
class NotifyDesk {
 public:
  NotifyDesk() = default;
  NotifyDesk(const NotifyDesk&) = delete;
  NotifyDesk& operator=(const NotifyDesk&) = delete;
  virtual ~NotifyDesk() = default;

  [[nodiscard]] virtual const judge::notify::Router& router() const noexcept = 0;
  [[nodiscard]] virtual const judge::notify::Muting& muting() const noexcept = 0;
  [[nodiscard]] virtual const std::map<std::string, ReceiverState>& receivers() const noexcept = 0;
  /// The newest; each stays until a hundred others have died.
  [[nodiscard]] virtual const std::deque<judge::notify::DeadLetter>& dead_letters()
      const noexcept = 0;
  /// As IncidentDesk::written().
  virtual std::shared_ptr<runtime::HttpHold> written() = 0;
  /// Its number is filled in.
  virtual judge::notify::Silence add_silence(judge::notify::Silence silence) = 0;
  /// Ends it now. kMissing.
  virtual Result<void> expire_silence(std::int64_t id) = 0;
  /// Sends a notice that says that it is a test; its key. kMissing: no such receiver.
  virtual Result<std::string> send_test(const std::string& receiver) = 0;
};

/// GET /api/v1/silences: {"at", "silences": [{"id", "name"|null, "match": [], "from", "until",
///  "by", "comment", "active"}]}; one with a name stands in the configuration and has the number 0.
///  POST /api/v1/silences with {"match": ["code=RAFT_*"], "for": "2h", "by", "comment"} and DELETE
///  /api/v1/silences/{id}: the silence.
/// GET /api/v1/receivers: {"at", "receivers": [{"name", "kind", "delivered", "refused", "dead",
///  "waiting", "last": null|{"key", "good", "reason", "at"}}], "groups", "dead_letters": [{"key",
///  "receiver", "reason", "at", "attempts", "incidents": [ids]}]}.
/// POST /api/v1/receivers/{name}/test: {"key"}. `desk` outlives them.
std::vector<Route> notify_routes(NotifyDesk& desk);

}  // namespace wardmote::serve
