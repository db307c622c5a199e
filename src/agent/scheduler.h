#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "incidents/wake_up.h"
#include "judge/observation.h"
#include "judge/self/starvation_guard.h"
#include "observe/probe.h"
#include "runtime/lateness.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {

/// When to look.
struct Schedule {
  std::string name;  ///< unique; its hash also spreads checks over the interval, the same way after
                     ///< a restart
  Duration every{};  ///< from start to start
  Duration timeout{};      ///< of one look, at most `every`
  std::size_t number = 0;  ///< the caller's own, told with every look
};

/// How one check has fared.
struct Punctuality {
  std::uint64_t looks = 0;
  std::uint64_t missed =
      0;  ///< ticks that passed while a look ran or we did not run; never made up for
  std::uint64_t voided = 0;  ///< bad news that came while we were starved
};

/// Looks at fixed rates. A look that takes long delays only its own check; ticks that pass
/// meanwhile are counted, not piled up; after a pause the checks come back spread out, not in a
/// burst. A heartbeat tells the StarvationGuard when this process did not run, and bad news from
/// then become unknown. Life cycle: stop() before destruction; what it borrows outlives it. Thread:
/// the core loop.
class Scheduler {
 public:
  /// One round of looks that belong together. Ends by the deadline; `lateness` is how late it was
  /// begun.
  using Round = std::function<runtime::Task<void>(runtime::Deadline deadline, Duration lateness)>;

  struct Listeners {
    /// After each look of a probe; already void if we were starved.
    std::function<void(const Schedule& check, const judge::Observation& seen, Duration lateness)>
        observed;
    /// After each heartbeat.
    std::function<void(Duration lateness)> beat;
  };

  static constexpr Duration kHeartbeat = std::chrono::milliseconds(100);

  Scheduler(runtime::Runtime& runtime, judge::StarvationGuard& guard, Listeners listeners);
  ~Scheduler();

  /// Looks with `probe` from now on, first within a second. Replaces a check of the same name,
  /// whose look under way is cancelled. Other checks do not notice. kInvalid when the schedule
  /// makes no sense.
  Result<void> add(Schedule schedule, std::unique_ptr<observe::Probe> probe);
  /// The same with rounds of the caller's own; it asks voids() itself.
  Result<void> add(Schedule schedule, Round round);
  /// Goes on with it under another number of the caller's.
  void renumber(std::string_view name, std::size_t number);
  /// Its look under way is cancelled and not heard any more.
  void remove(std::string_view name);
  /// Looks as soon as no look of this check is under way. Any number of calls during a look make
  /// one more. Leaves the schedule as it is.
  void look_now(std::string_view name);
  /// Cancels all looks and waits for them.
  runtime::Task<void> stop();

  /// Whether bad news of a look from `begun` to now, failed for `reason`, are void.
  [[nodiscard]] bool voids(TimePoint begun, const judge::Reason& reason);

  [[nodiscard]] std::optional<Punctuality> punctuality(std::string_view name) const;
  /// Of all looks, since the start.
  [[nodiscard]] const runtime::Lateness& lateness() const noexcept { return lateness_; }
  [[nodiscard]] std::size_t size() const noexcept { return checks_.size(); }
  /// The names of what runs now.
  [[nodiscard]] std::vector<std::string> tasks() const { return tasks_.names(); }

 private:
  struct Check;
  using CheckPtr = std::shared_ptr<Check>;
  struct ByName {
    // NOLINTNEXTLINE(readability-identifier-naming): the standard looks for this name
    using is_transparent = void;
    bool operator()(const CheckPtr& a, const CheckPtr& b) const noexcept;
    bool operator()(const CheckPtr& a, std::string_view b) const noexcept;
    bool operator()(std::string_view a, const CheckPtr& b) const noexcept;
  };

  using Plan = std::multimap<TimePoint, CheckPtr>;

  Result<void> start(const CheckPtr& check);
  void plan(const CheckPtr& check, TimePoint due);
  void plan_next(const CheckPtr& check, TimePoint after);
  void plan_arrivals();
  void run_due();
  void tick(const CheckPtr& check, TimePoint due);
  // A coroutine that looks shares its check, because remove() forgets it at once.
  void begin_look(const CheckPtr& check, TimePoint due, bool at_tick);
  runtime::Task<void> look(CheckPtr check, TimePoint due, bool at_tick);
  runtime::Task<void> look_with_probe(CheckPtr check, runtime::Deadline deadline,
                                      Duration lateness);
  runtime::Task<void> keep_beating();

  runtime::Runtime* runtime_;
  judge::StarvationGuard* guard_;
  Listeners listeners_;
  std::set<CheckPtr, ByName> checks_;
  /// The next tick of each check that no tick looks at. A check that waits is an entry here and no
  /// coroutine, which would update more than all the rest of it.
  Plan plan_;
  std::vector<CheckPtr> arrivals_;  ///< not in the plan yet
  incidents::WakeUp clock_;
  runtime::Lateness lateness_;
  std::optional<TimePoint> next_beat_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
