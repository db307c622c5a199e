#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "judge/verdict.h"

namespace wardmote::judge {

/// `check_changed`
struct CheckChanged {
  State from{};
  State to{};
  Reason reason;
  bool counts = true;      ///< false: it is optional and was never good
  bool seen_good = false;  ///< since the agent's start
};

/// `check_blind`, `check_seen_again`
struct CheckBlind {
  bool blind = false;
  Reason reason;
  State state{};       ///< of the check then
  bool counts = true;  ///< false: it is optional and was never good
};

/// `cluster_verdict`
struct VerdictChanged {
  Verdict from{};
  Verdict to{};
};

/// `member_changed`, of a cluster
struct MemberChanged {
  std::string member;
  std::optional<Outcome> from;  ///< nothing: the thing was not judged before
  Outcome to{};
  Reason reason;
};

/// `finding_raised`, `finding_changed` (its severity), `finding_cleared`, of a thing that a domain
/// judges
struct FindingChanged {
  enum class Step : std::uint8_t { kRaised, kChanged, kCleared };
  Step step{};
  Finding finding;  ///< the present finding; of `finding_cleared`, the last one
  TimePoint now;
  /// Names in the graph of incidents: the reporting thing, and what is wrong.
  std::string owner{};
  std::string component{};
  bool counts = true;  ///< false: the thing's check is optional and was never good
};

/// `gate_opened`, `gate_closed`
struct GateChanged {
  bool open = false;
  std::vector<std::string> failing;  ///< the checks that close it
};

/// `incident_opened`, `incident_resolved`, …
struct IncidentChanged {
  incident::Step step;
};

/// `notice_delivered`, `notice_refused`, `notice_undelivered`, of a receiver
struct DeliveryChanged {
  enum class Result : std::uint8_t { kDelivered, kRefused, kUndelivered };
  Result result{};
  std::string key;
  std::vector<std::int64_t> incidents;  ///< the numbers of the incidents in it
  /// why not; of a delivered notice: the recipients who will never get it
  std::string detail;
};

/// `silence_added`, `silence_expired`
struct SilenceChanged {
  bool added = false;
  WallTime until;
  std::string by;
  std::string comment;
};

/// `plan_…` with the word of the journal, and `step_begun`, `step_done`, `step_failed`
struct PlanChanged {
  enum class Of : std::uint8_t { kPlan, kStep };
  Of of{};
  std::string word;  ///< `proposed`, `done`, …
  std::string cluster;
  std::string target;  ///< the member or server
  std::string step;    ///< may be empty
  std::string detail;
  std::int64_t incident = 0;  ///< 0: none
};

/// `acts_paused`, `acts_resumed`
struct ActsPaused {
  bool paused = false;
  std::string by;
};

/// `agent_degraded`, `agent_recovered`
struct AgentHealth {
  std::optional<std::string> complaint;
};

using Event = std::variant<CheckChanged, CheckBlind, VerdictChanged, MemberChanged, FindingChanged,
                           GateChanged, IncidentChanged, DeliveryChanged, SilenceChanged,
                           PlanChanged, ActsPaused, AgentHealth>;

/// One change, for everything that follows changes: incidents, the log, /api/v1/events, history.
/// serve/change_text.h makes the text for people.
struct Change {
  std::uint64_t sequence = 0;  ///< 1, 2, 3 … since the agent's start
  WallTime at;
  ThingId of;
  Event event;
};

}  // namespace wardmote::judge
