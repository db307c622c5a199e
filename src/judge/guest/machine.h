#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/guest/activity.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/journal.h"
#include "judge/guest/maintenance.h"
#include "judge/guest/signs.h"

namespace wardmote::judge::guest {

/// How one guest may be restarted, where a policy of plans lets the agent do that.
struct RestartPolicy {
  bool nova = false;           ///< guests that belong to Nova, too
  Duration dump{};             ///< how long it has to write a dump after an NMI; zero: none is sent
  std::optional<bool> wanted;  ///< what its own metadata says
  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};

/// How one guest is watched.
struct Policy {
  bool watched = true;
  bool compat = false;  ///< by the rules of Masakari's monitor (journal.h) and no others
  /// compat: a guest that is paused begins anew, as the header of that monitor promises
  bool compat_pause_resets = false;
  Duration interval = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(2);
  int threshold = 3;  ///< pings in a row without an answer until it is reported
  /// since it began to boot: until then silence is no failure, and after it is one
  Duration boot_deadline = std::chrono::minutes(5);
  /// Alarms within `alarm_window` that say the guest is lost; one more says that it keeps failing.
  /// Zero: any number.
  int max_alarms = 3;
  Duration alarm_window = std::chrono::hours(1);
  InsidePolicy inside;
  RestartPolicy restart;
  std::vector<Window> maintenance;  ///< of whatever is wrong then nobody is told
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// What is the matter with a guest.
enum class Verdict : std::uint8_t {
  kUnknown,        ///< nobody can say: the hypervisor does not answer
  kHealthy,        ///< the agent answers
  kWaiting,        ///< it boots, or was not asked yet
  kSilent,         ///< it did not answer, not often enough to say
  kNoAgent,        ///< it has no channel for an agent
  kIgnored,        ///< somebody said so
  kMaintenance,    ///< somebody works on it, or on its host
  kSuppressed,     ///< paused, migrating or shutting down: nobody expects an answer
  kNeverAnswered,  ///< it has a channel, and no agent was ever heard
  kAgentDown,      ///< no agent has the port open; the guest runs
  kAgentStuck,     ///< the agent is silent; the guest does I/O
  kNoAnswer,       ///< silent, and nothing else is known of it
  kIdleHung,       ///< silent, no I/O, hardly any CPU
  kSpinning,       ///< silent, no I/O, a CPU is used up
  kBootStuck,      ///< it was heard before, and not since it began to boot
  kPanic,          ///< its kernel gave up
  kDied,           ///< QEMU ended, and nobody asked for it
  kQemuStuck,      ///< QEMU itself does not run: the host is to blame
  kHostStorage,    ///< QEMU stopped it, because its disk fails or is full
};

/// `HEALTHY`, `AGENT_DOWN`, …
std::string_view to_string(Verdict verdict) noexcept;
/// The finding that it becomes; nothing for those that are none.
std::optional<Code> code_of(Verdict verdict) noexcept;

/// One guest from its first sight to its end: which of its pings count, when it is reported, and
/// as what. Pure; time is a parameter. Every time is a moment at which something was seen.
class Machine {
 public:
  /// What must outlive the agent.
  struct Record {
    State state = State::kDiscovery;
    int failures = 0;
    bool ever_answered = false;
    bool booting = false;             ///< it was not heard since it began to boot
    bool sent = false;                ///< of the journal in compat
    std::optional<Verdict> reported;  ///< as what it is reported now
    TimePoint reported_since;
    std::vector<TimePoint> alarms;  ///< when it was reported as lost, within the window
    friend bool operator==(const Record&, const Record&) = default;
  };

  /// Seen for the first time, running or not. It may have booted long ago, or just now.
  Machine(const Policy& policy, TimePoint now);
  /// The same guest in an earlier life of the agent.
  void recall(const Record& record, TimePoint now);
  [[nodiscard]] Record record() const;
  /// When it was reported as lost, within the window.
  [[nodiscard]] std::vector<TimePoint> recent_alarms(TimePoint now) const;
  /// The same guest began anew, and this is how it was before it was ended.
  void recall_alarms(std::vector<TimePoint> alarms);
  void set_policy(const Policy& policy) noexcept { policy_ = policy; }
  [[nodiscard]] const Policy& policy() const noexcept { return policy_; }

  // What the hypervisor tells.
  void found(Run run, Pause pause, TimePoint now);  ///< in a list of what is there
  void started(bool boots, TimePoint now);          ///< false: it came as it was, by migration
  void rebooted(TimePoint now);                     ///< any number of times for one reboot
  void paused(Pause pause, TimePoint now);
  void resumed(TimePoint now);
  void shutting_down() noexcept { run_ = Run::kShuttingDown; }
  void suspended() noexcept { run_ = Run::kSuspended; }
  void panicked(TimePoint now);
  void died(TimePoint now);  ///< QEMU ended, and nobody asked for it
  void agent(Channel channel, TimePoint now);
  void migrating(TimePoint now);  ///< a round of it was told of
  void migration_ended() noexcept { migrating_until_.reset(); }

  /// Whether somebody works on it now. Meanwhile it is not asked. After it the count begins anew,
  /// and what the hypervisor told meanwhile, that it panicked or died, is told then.
  void maintain(bool now_open) noexcept;

  /// A ping that was sent at `sent` (nothing: now) and decided at `now`. Two in much less than an
  /// interval count as one.
  void pinged(Ping ping, TimePoint now, std::optional<TimePoint> sent = std::nullopt);
  void counted(const Counters& counters);

  /// Whether somebody should ask it now.
  [[nodiscard]] bool asks(TimePoint now) const noexcept;
  /// Whether its counters are worth their cost after such a ping: it is silent.
  [[nodiscard]] bool wants_counters(Ping last) const noexcept;
  /// It ended unasked, and stays known until it begins again.
  [[nodiscard]] bool lost() const noexcept { return run_ == Run::kShutOff && reported_; }

  [[nodiscard]] Verdict verdict(TimePoint now) const noexcept;
  /// Since when the verdict's condition stands.
  [[nodiscard]] TimePoint since() const noexcept { return since_; }
  /// It is reported as lost once more than its policy allows.
  [[nodiscard]] bool keeps_failing() const noexcept;
  /// How often it was reported as lost, within the window that ended with the last time.
  [[nodiscard]] std::size_t alarms() const noexcept { return alarms_.size(); }
  [[nodiscard]] State state() const noexcept;
  [[nodiscard]] int failures() const noexcept;
  [[nodiscard]] Run run() const noexcept { return run_; }
  [[nodiscard]] Channel channel() const noexcept { return channel_; }
  [[nodiscard]] bool ever_answered() const noexcept { return ever_answered_; }
  [[nodiscard]] bool booting() const noexcept { return booting_since_.has_value(); }
  /// Since it began to boot, or was first seen; nothing: it was heard since then.
  [[nodiscard]] std::optional<Duration> boots_for(TimePoint now) const noexcept;
  [[nodiscard]] bool migrates(TimePoint now) const noexcept {
    return migrating_until_ && now < *migrating_until_;
  }
  /// It is reported as one that somebody may want to restart.
  [[nodiscard]] bool reported_lost() const noexcept;
  [[nodiscard]] std::optional<TimePoint> last_answer() const noexcept { return last_answer_; }
  [[nodiscard]] const ActivityWatch& activity() const noexcept { return activity_; }
  [[nodiscard]] Signs& signs() noexcept { return signs_; }
  [[nodiscard]] const Signs& signs() const noexcept { return signs_; }

 private:
  void answered(TimePoint now);
  void unanswered(TimePoint sent, TimePoint now);
  void report(Verdict verdict, TimePoint now);
  void count_alarm(Verdict verdict, TimePoint now);
  void take_back() noexcept;
  void boots(TimePoint now);
  [[nodiscard]] bool suppressed(TimePoint now) const noexcept;
  [[nodiscard]] bool had_agent() const noexcept;
  [[nodiscard]] Verdict silent_verdict() const noexcept;
  [[nodiscard]] std::optional<Verdict> late_boot(TimePoint now) const noexcept;

  Policy policy_;
  MasakariJournal journal_;  ///< in compat
  State state_ = State::kDiscovery;
  int failures_ = 0;
  bool ever_answered_ = false;
  Run run_ = Run::kNoState;
  Pause pause_ = Pause::kOrdered;
  Channel channel_ = Channel::kUnknown;
  /// Since its last boot, or since it was first seen, nobody heard it.
  std::optional<TimePoint> booting_since_;
  TimePoint failed_;  ///< when the last ping that counts as a failure was sent
  TimePoint looked_;  ///< when it was pinged last, or could not be
  std::optional<TimePoint> migrating_until_;
  bool maintained_ = false;
  std::optional<TimePoint> last_answer_;
  std::optional<Verdict> reported_;  ///< stands until it answers, is gone, or is known as another
  TimePoint since_;
  std::vector<TimePoint> alarms_;  ///< when it was reported as lost, the oldest first; bounded
  ActivityWatch activity_;
  Signs signs_;
};

}  // namespace wardmote::judge::guest
