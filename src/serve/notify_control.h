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
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"
#include "runtime/http.h"
#include "serve/route.h"

namespace wardmote::serve {

/// What became of a notice at a receiver.
struct DeliveryFate {
  std::string key;
  bool good = false;   ///< all recipients behind the receiver took it
  std::string reason;  ///< why not
  TimePoint at;
};

/// The state of one receiver since the agent's start.
struct ReceiverState {
  std::string kind;  ///< `webhook`, …; never its address, which may carry a secret
  std::uint64_t delivered = 0;
  std::uint64_t refused = 0;
  std::uint64_t dead = 0;
  std::uint64_t repeated = 0;  ///< notices that may have been sent already before a restart
  std::optional<DeliveryFate> last;
  std::deque<DeliveryFate> tests;  ///< the newest ones: who asked for one finds it by its key
};

/// Access to receivers and silences, and orders about them.
class NotifyControl {
 public:
  NotifyControl() = default;
  NotifyControl(const NotifyControl&) = delete;
  NotifyControl& operator=(const NotifyControl&) = delete;
  virtual ~NotifyControl() = default;

  [[nodiscard]] virtual const judge::notify::Router& router() const noexcept = 0;
  [[nodiscard]] virtual const judge::notify::Muting& muting() const noexcept = 0;
  [[nodiscard]] virtual const std::map<std::string, ReceiverState>& receivers() const noexcept = 0;
  /// The newest given-up notices; each stays until a hundred newer ones exist.
  [[nodiscard]] virtual const std::deque<judge::notify::DeadLetter>& dead_letters()
      const noexcept = 0;
  /// As IncidentControl::written().
  virtual std::shared_ptr<runtime::HttpHold> written() = 0;
  /// Adds a silence and fills in its number. kInvalid: a matcher has a label that no incident has.
  virtual Result<judge::notify::Silence> add_silence(judge::notify::Silence silence) = 0;
  /// Ends a silence now. kMissing.
  virtual Result<void> expire_silence(std::int64_t id) = 0;
  /// The labels of an incident of which these are given: with those that follow from `root`, and
  /// those of the node. kInvalid: no incident has one of them.
  [[nodiscard]] virtual Result<judge::notify::Labels> complete(
      const judge::notify::Labels& given) const = 0;
  /// Sends a test notice and returns its key. kMissing: no such receiver.
  virtual Result<std::string> send_test(const std::string& receiver) = 0;
};

/// GET /api/v1/silences: {"at", "silences": [{"id", "name"|null, "match": [], "from", "until",
///  "by", "comment", "active"}]}; one with a name stands in the configuration and has the number 0.
///  POST /api/v1/silences with {"match": ["code=RAFT_*"], "for": "2h", "by", "comment"} and DELETE
///  /api/v1/silences/{id}: the silence.
/// GET /api/v1/receivers: {"at", "receivers": [{"name", "kind", "delivered", "refused", "dead",
///  "waiting", "last": null|FATE, "tests": [FATE]}], "groups", "dead_letters": [{"key", "receiver",
///  "reason", "at", "attempts", "incidents": [ids]}]}, where FATE is {"key", "good", "reason",
///  "at"} and `tests` has the newest ones.
/// GET /api/v1/routes?label=root=cluster:nb&label=…: what the routes would do with an incident that
///  has these labels: {"at", "labels": {}, "muted_by"|null, "receivers": [names], "routes":
///  [{"number", "receiver", "match": [], "continue", "fate": "takes|no_match|not_reached",
///  "missed"|null: the first matcher that does not match, "rests_until"|null,
///  "group"|null}]}.
/// POST /api/v1/receivers/{name}/test: {"key"}. `control` outlives them.
std::vector<Route> notify_routes(NotifyControl& control);

}  // namespace wardmote::serve
