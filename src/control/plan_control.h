#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/journal_entry.h"
#include "judge/plan/planner.h"

namespace wardmote::control {

/// Where plans are made and carried out, and orders about them given. Thread: the core loop.
class PlanControl {
 public:
  PlanControl() = default;
  PlanControl(const PlanControl&) = delete;
  PlanControl& operator=(const PlanControl&) = delete;
  virtual ~PlanControl() = default;

  [[nodiscard]] virtual const judge::plan::Planner& planner() const noexcept = 0;
  /// The newest rows of the journal, oldest first.
  [[nodiscard]] virtual const std::deque<judge::JournalEntry>& actions() const noexcept = 0;
  /// Whether the journal outlives the agent.
  [[nodiscard]] virtual bool stored() const noexcept = 0;
  /// Why nothing may begin anywhere, but for pauses; nothing: it may.
  [[nodiscard]] virtual std::optional<std::string> frozen() const = 0;
  /// Asks for a plan for a part of a target: a member of a cluster. The plan's number. kMissing: no
  /// such target; kRejected: what forbids it.
  virtual Result<std::int64_t> propose(std::string_view target, std::string_view subject,
                                       std::string by) = 0;
  /// kMissing, kRejected.
  virtual Result<void> approve(std::int64_t id, std::string by, std::string comment) = 0;
  virtual Result<void> reject(std::int64_t id, std::string by, std::string comment) = 0;
  /// kMissing: no such target. `scope` is empty for everything.
  virtual Result<void> pause(std::string scope, std::optional<Duration> time, std::string by) = 0;
  /// kMissing: it is not paused.
  virtual Result<void> resume(std::string scope, std::string by) = 0;
  /// When the newest order is written down. Null: nothing is ordered yet.
  virtual std::shared_ptr<Written> written() = 0;
};

}  // namespace wardmote::control
