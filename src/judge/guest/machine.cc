#include "judge/guest/machine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/guest/activity.h"
#include "judge/guest/facts.h"
#include "judge/guest/journal.h"

namespace wardmote::judge::guest {
namespace {

/// Longer than the pause between two rounds of a migration of much memory.
constexpr Duration kMigrationRound = std::chrono::minutes(1);

/// Not the guest that fell silent, whatever it was reported as before.
bool names_silence(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNoAnswer:
    case Verdict::kAgentStuck:
    case Verdict::kIdleHung:
    case Verdict::kSpinning:
    case Verdict::kQemuStuck: return true;
    default: return false;
  }
}

/// The guest itself, which somebody may want to restart.
bool is_lost(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNoAnswer:
    case Verdict::kIdleHung:
    case Verdict::kSpinning:
    case Verdict::kBootStuck:
    case Verdict::kPanic:
    case Verdict::kDied: return true;
    default: return false;
  }
}

/// More than any policy allows.
constexpr std::size_t kMostAlarms = 101;

}  // namespace

Machine::Machine(const Policy& policy, TimePoint now)
    : policy_(policy), booting_since_(now), looked_(now), since_(now) {}

void Machine::recall(const Record& record, TimePoint now) {
  state_ = record.state;
  // Without the counters of that time nobody could say what is dead.
  if (state_ == State::kError) state_ = State::kHealthy;
  ever_answered_ = record.ever_answered;
  journal_ = MasakariJournal::recall(record.state, record.failures, record.sent);
  reported_ = record.reported;
  since_ = reported_ ? record.reported_since : now;
  recall_alarms(record.alarms);
  // Who was well, or dead, when the agent ended must not pass for one that boots.
  if (!record.booting) booting_since_.reset();
  if (reported_ == Verdict::kDied) run_ = Run::kShutOff;
}

std::vector<TimePoint> Machine::recent_alarms(TimePoint now) const {
  std::vector<TimePoint> recent = alarms_;
  std::erase_if(recent, [&](TimePoint at) { return at + policy_.alarm_window <= now; });
  return recent;
}

void Machine::recall_alarms(std::vector<TimePoint> alarms) {
  alarms_ = std::move(alarms);
  if (alarms_.size() > kMostAlarms) alarms_.resize(kMostAlarms);
}

Machine::Record Machine::record() const {
  // What no rule looks at any more is not worth writing down.
  const int failures = policy_.compat ? std::min(journal_.failures(), policy_.threshold + 1) : 0;
  return {
      .state = policy_.compat || reported_ || state_ != State::kError ? state() : State::kHealthy,
      .failures = failures,
      .ever_answered = ever_answered_,
      .booting = booting(),
      .sent = journal_.sent(),
      .reported = reported_,
      .reported_since = reported_ ? since_ : TimePoint(),
      .alarms = alarms_};
}

void Machine::found(Run run, Pause pause, TimePoint now) {
  if (run == Run::kCrashed) {
    if (run_ != run) panicked(now);
    return;
  }
  if (run == Run::kPaused && (run_ != run || pause_ != pause)) return paused(pause, now);
  if (run == Run::kRunning && run_ == Run::kPaused) return resumed(now);
  run_ = run;
}

void Machine::boots(TimePoint now) {
  failures_ = 0;
  channel_ = channel_ == Channel::kNone ? Channel::kNone : Channel::kUnknown;
  activity_.forget();
  migrating_until_.reset();
  // Of several signs of one reboot the first counts.
  if (!booting_since_) booting_since_ = now;
  // Of one without an agent nobody would ever hear that it is well again.
  if (!ever_answered_) take_back();
}

void Machine::started(bool boots_anew, TimePoint now) {
  run_ = Run::kRunning;
  journal_.started();
  if (policy_.compat) take_back();
  booting_since_.reset();
  if (boots_anew) {
    boots(now);
  } else {
    // It runs on where it was; whoever was silent there is asked anew.
    failures_ = 0;
    activity_.forget();
  }
}

void Machine::rebooted(TimePoint now) {
  if (run_ == Run::kCrashed) run_ = Run::kRunning;
  // Masakari's monitor hears it and does nothing.
  if (!policy_.compat) boots(now);
}

void Machine::paused(Pause pause, TimePoint now) {
  run_ = Run::kPaused;
  pause_ = pause;
  failures_ = 0;
  activity_.forget();
  if (policy_.compat && policy_.compat_pause_resets) journal_.started();
  if (pause == Pause::kStorage) report(Verdict::kHostStorage, now);
  // It hung, and nobody lets it go on.
  if (pause == Pause::kWatchdog && !policy_.compat) report(Verdict::kNoAnswer, now);
}

void Machine::resumed(TimePoint) {
  const bool by_watchdog = run_ == Run::kPaused && pause_ == Pause::kWatchdog;
  run_ = Run::kRunning;
  pause_ = Pause::kOrdered;
  failures_ = 0;
  activity_.forget();
  if (reported_ == Verdict::kHostStorage || by_watchdog) take_back();
}

void Machine::panicked(TimePoint now) {
  run_ = Run::kCrashed;
  // Masakari's monitors do not hear of it.
  if (!policy_.compat) report(Verdict::kPanic, now);
}

void Machine::died(TimePoint now) {
  // A guest that panicked and was then ended by its hypervisor died of the panic.
  run_ = Run::kShutOff;
  if (reported_ != Verdict::kPanic) report(Verdict::kDied, now);
}

void Machine::agent(Channel channel, TimePoint now) {
  if (channel == Channel::kDisconnected && channel_ != Channel::kDisconnected && !reported_)
    since_ = now;
  channel_ = channel;
}

void Machine::migrating(TimePoint now) {
  migrating_until_ = now + kMigrationRound;
}

void Machine::maintain(bool now_open) noexcept {
  if (std::exchange(maintained_, now_open) == now_open) return;
  failures_ = 0;
  if (state_ == State::kError) state_ = State::kHealthy;
  activity_.forget();
  const bool stopped = run_ == Run::kPaused && pause_ == Pause::kWatchdog;
  const bool silent = reported_ && (names_silence(*reported_) || reported_ == Verdict::kBootStuck);
  if (silent && !stopped) take_back();
  if (!policy_.compat) return;
  journal_.started();
  take_back();
}

bool Machine::suppressed(TimePoint now) const noexcept {
  if (migrates(now)) return true;
  return run_ == Run::kPaused || run_ == Run::kShuttingDown || run_ == Run::kSuspended;
}

bool Machine::asks(TimePoint) const noexcept {
  // While it migrates its answers are still worth having.
  return policy_.watched && !maintained_ && run_ == Run::kRunning &&
         (channel_ != Channel::kNone || policy_.compat);
}

bool Machine::wants_counters(Ping last) const noexcept {
  if (policy_.compat || run_ != Run::kRunning) return false;
  if (last == Ping::kSilent && !booting_since_) return true;
  const bool comes_back = booting_since_ && had_agent();
  return failures_ > 0 || comes_back || (reported_ && names_silence(*reported_));
}

void Machine::pinged(Ping ping, TimePoint now, std::optional<TimePoint> sent) {
  const Duration passed = now - std::exchange(looked_, now);
  // Time in which nobody could hear it is none in which it was too slow.
  if (ping == Ping::kUnknown && booting_since_)
    booting_since_ = std::min(*booting_since_ + passed, now);
  if (ping == Ping::kAnswered) return answered(now);
  if (ping == Ping::kSilent) unanswered(sent.value_or(now), now);
  if (ping == Ping::kDisconnected) {
    agent(Channel::kDisconnected, now);
    // Nobody was there to answer: that says nothing of the guest.
    if (policy_.compat) unanswered(now, now);
  }
  const std::optional<Verdict> late = reported_ ? std::nullopt : late_boot(now);
  if (late == Verdict::kBootStuck || late == Verdict::kAgentStuck) {
    const TimePoint began = *booting_since_;
    report(*late, now);
    since_ = began;
  }
}

void Machine::answered(TimePoint now) {
  if (failures_ > 0 || booting_since_ || reported_) since_ = now;
  journal_.answered();
  failures_ = 0;
  state_ = State::kHealthy;
  ever_answered_ = true;
  channel_ = Channel::kConnected;
  booting_since_.reset();
  activity_.forget();
  last_answer_ = now;
  reported_.reset();
}

void Machine::unanswered(TimePoint sent, TimePoint now) {
  if (policy_.compat) {
    if (journal_.begin_failure(policy_.threshold)) {
      journal_.notified(MasakariJournal::Delivery::kReturned);
      report(Verdict::kNoAnswer, now);
    }
    journal_.end_failure();
    return;
  }
  if (booting_since_ || suppressed(now) || run_ != Run::kRunning) return;
  // Beside the schedule it is asked after a start of the agent, and when its port opens.
  if (failures_ > 0 && sent - failed_ < policy_.interval * 3 / 4) return;
  failed_ = sent;
  if (failures_ == 0 && !reported_) since_ = now;
  ++failures_;
  if (reported_) return;
  state_ = failures_ >= policy_.threshold ? State::kReported : State::kError;
  if (state_ == State::kReported) {
    const TimePoint silent_since = since_;
    report(silent_verdict(), now);
    since_ = silent_since;
  }
}

/// What it was reported as is over, and nobody has heard it.
void Machine::take_back() noexcept {
  if (!reported_) return;
  reported_.reset();
  state_ = ever_answered_ ? State::kHealthy : State::kDiscovery;
}

/// Of one episode, as of a panic that ends in the death of QEMU, one counts.
void Machine::count_alarm(Verdict verdict, TimePoint now) {
  if (policy_.compat || !is_lost(verdict)) return;
  if (reported_ && is_lost(*reported_)) return;
  alarms_ = recent_alarms(now);
  if (alarms_.size() < kMostAlarms) alarms_.push_back(now);
}

void Machine::report(Verdict verdict, TimePoint now) {
  if (!reported_) since_ = now;
  count_alarm(verdict, now);
  reported_ = verdict;
  state_ = State::kReported;
}

void Machine::counted(const Counters& counters) {
  activity_.add(counters);
  if (policy_.compat || !reported_ || booting_since_ || !names_silence(*reported_)) return;
  const Verdict seen = silent_verdict();
  // What nobody knows any more is what it was.
  if (seen == Verdict::kNoAnswer) return;
  count_alarm(seen, counters.at);
  reported_ = seen;
}

Verdict Machine::silent_verdict() const noexcept {
  switch (activity_.activity()) {
    case Activity::kUnknown: return Verdict::kNoAnswer;
    case Activity::kBusy: return Verdict::kAgentStuck;
    case Activity::kSpinning: return Verdict::kSpinning;
    case Activity::kIdle: return Verdict::kIdleHung;
    case Activity::kFrozen: return Verdict::kQemuStuck;
  }
  return Verdict::kNoAnswer;
}

/// QEMU sees whether somebody in the guest has opened the port.
bool Machine::had_agent() const noexcept {
  return ever_answered_ || channel_ == Channel::kConnected;
}

/// What is to say of a guest that takes too long to boot.
std::optional<Verdict> Machine::late_boot(TimePoint now) const noexcept {
  if (!booting_since_ || suppressed(now) || run_ != Run::kRunning) return std::nullopt;
  if (now - *booting_since_ < policy_.boot_deadline) return std::nullopt;
  if (policy_.compat) return Verdict::kNeverAnswered;
  if (!had_agent()) return Verdict::kNeverAnswered;
  if (activity_.activity() != Activity::kBusy) return Verdict::kBootStuck;
  // It has come back, and its agent has not.
  return channel_ == Channel::kConnected ? Verdict::kAgentStuck : Verdict::kAgentDown;
}

Verdict Machine::verdict(TimePoint now) const noexcept {
  if (!policy_.watched) return Verdict::kIgnored;
  if (maintained_) return Verdict::kMaintenance;
  if (reported_) return *reported_;
  if (suppressed(now)) return Verdict::kSuppressed;
  if (run_ != Run::kRunning) return Verdict::kUnknown;
  if (channel_ == Channel::kNone) return Verdict::kNoAgent;
  if (booting_since_) return late_boot(now).value_or(Verdict::kWaiting);
  if (channel_ == Channel::kDisconnected) return Verdict::kAgentDown;
  if (failures() > 0) return Verdict::kSilent;
  return state() == State::kHealthy ? Verdict::kHealthy : Verdict::kWaiting;
}

std::optional<Duration> Machine::boots_for(TimePoint now) const noexcept {
  if (!booting_since_) return std::nullopt;
  return now - *booting_since_;
}

bool Machine::reported_lost() const noexcept {
  return reported_ && !maintained_ && is_lost(*reported_);
}

bool Machine::keeps_failing() const noexcept {
  return reported_lost() && policy_.max_alarms > 0 &&
         alarms_.size() > static_cast<std::size_t>(policy_.max_alarms);
}

State Machine::state() const noexcept {
  return policy_.compat ? journal_.state() : state_;
}

int Machine::failures() const noexcept {
  return policy_.compat ? journal_.failures() : failures_;
}

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kUnknown: return "UNKNOWN";
    case Verdict::kHealthy: return "HEALTHY";
    case Verdict::kWaiting: return "WAITING";
    case Verdict::kSilent: return "SILENT";
    case Verdict::kNoAgent: return "NO_AGENT";
    case Verdict::kIgnored: return "IGNORED";
    case Verdict::kMaintenance: return "MAINTENANCE";
    case Verdict::kSuppressed: return "SUPPRESSED";
    default: break;
  }
  return to_string(code_of(verdict).value_or(Code::kGuestNoAnswer));
}

std::optional<Code> code_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNeverAnswered: return Code::kAgentNeverAnswered;
    case Verdict::kAgentDown: return Code::kAgentDown;
    case Verdict::kAgentStuck: return Code::kAgentStuck;
    case Verdict::kNoAnswer: return Code::kGuestNoAnswer;
    case Verdict::kIdleHung: return Code::kGuestIdleHung;
    case Verdict::kSpinning: return Code::kGuestSpinning;
    case Verdict::kBootStuck: return Code::kGuestBootStuck;
    case Verdict::kPanic: return Code::kGuestPanic;
    case Verdict::kDied: return Code::kGuestDied;
    case Verdict::kQemuStuck: return Code::kQemuStuck;
    case Verdict::kHostStorage: return Code::kHostStorage;
    default: return std::nullopt;
  }
}

}  // namespace wardmote::judge::guest
