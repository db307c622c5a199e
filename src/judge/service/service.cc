#include "judge/service/service.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

using State = ServiceFacts::State;

/// A process that began later than this after its service is another process with the same pid.
constexpr Duration kStartSlack = std::chrono::seconds(1);
/// More restarts are not remembered; no policy asks for as many.
constexpr std::size_t kMostRemembered = 1000;

Judgement judged(Outcome outcome, std::string text) {
  return {outcome, {ReasonCode::kState, std::move(text)}};
}

bool is_child(const ServiceFacts& facts) {
  return facts.parent_name == program_of(facts.supervisor);
}

/// The age of the process is by a clock that nobody sets; that of the status is by the wall clock.
Duration uptime_of(const ServiceFacts& facts) {
  return facts.process && is_child(facts) ? facts.process->age : facts.in_state;
}

std::string last_end(const ServiceFacts& facts) {
  if (facts.last_signal) return fmt::format(" by signal {}", *facts.last_signal);
  if (facts.last_exit_code) return fmt::format(" with exit code {}", *facts.last_exit_code);
  return {};
}

struct Case {
  const ServiceFacts& facts;
  const ServicePolicy& policy;
  Duration waiting;
};

std::optional<Judgement> crash_loop(const Case& c) {
  if (!c.facts.want_up || c.facts.restarts < c.policy.restarts) return std::nullopt;
  return judged(
      Outcome::kFail,
      fmt::format(
          "restarting: {} restarts within {}{}", c.facts.restarts, format_duration(c.policy.within),
          c.facts.last_exit_code || c.facts.last_signal ? ", it ended" + last_end(c.facts) : ""));
}

std::optional<Judgement> down(const Case& c) {
  if (c.facts.state != State::kDown) return std::nullopt;
  const std::string since = format_duration(c.facts.in_state);
  if (c.facts.want_up) {
    return judged(Outcome::kFail, fmt::format("down though wanted up: it ended{} {} ago",
                                              last_end(c.facts), since));
  }
  return judged(Outcome::kFail, fmt::format("down for {}, wanted down{}", since,
                                            c.facts.normally_up ? ", normally up" : ""));
}

std::optional<Judgement> finishing(const Case& c) {
  if (c.facts.state != State::kFinish) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("it ended{}, its finish script runs for {}",
                                            last_end(c.facts), format_duration(c.facts.in_state)));
}

std::optional<Judgement> paused(const Case& c) {
  if (!c.facts.paused) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("paused (pid {})", c.facts.pid));
}

std::optional<Judgement> being_stopped(const Case& c) {
  if (c.facts.want_up) return std::nullopt;
  if (c.facts.got_term) {
    return judged(Outcome::kFail,
                  fmt::format("being stopped: pid {} got TERM and is still there", c.facts.pid));
  }
  return judged(Outcome::kWarn, "it will not be restarted: wanted down after this run");
}

std::optional<Judgement> wrong_process(const Case& c) {
  if (!c.facts.process_sought) return std::nullopt;
  if (!c.facts.process) {
    return judged(
        Outcome::kUnknown,
        fmt::format("stale pid: no process {} here (does it run in another pid namespace?)",
                    c.facts.pid));
  }
  const Duration age = c.facts.process->age;
  if (is_child(c.facts) || age + kStartSlack >= c.facts.in_state) return std::nullopt;
  return judged(
      Outcome::kUnknown,
      fmt::format("stale pid: process {} ({}) is {} old, the service {}", c.facts.pid,
                  c.facts.process->name, format_duration(age), format_duration(c.facts.in_state)));
}

std::optional<Judgement> stuck(const Case& c) {
  if (!c.facts.process) return std::nullopt;
  const char state = c.facts.process->state;
  if (stuck_at_once(state)) {
    return judged(Outcome::kFail, fmt::format("pid {} is {}", c.facts.pid, stuck_words(state)));
  }
  if (state != 'D' || c.waiting <= c.policy.longest_wait) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("pid {} has been {} for {}", c.facts.pid,
                                            stuck_words(state), format_duration(c.waiting)));
}

std::optional<Judgement> too_young(const Case& c) {
  const Duration uptime = uptime_of(c.facts);
  if (uptime >= c.policy.min_uptime) return std::nullopt;
  return judged(Outcome::kUnknown, fmt::format("up for {}, less than {}", format_duration(uptime),
                                               format_duration(c.policy.min_uptime)));
}

std::optional<Judgement> not_ready(const Case& c) {
  if (c.facts.ready.value_or(true)) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("up for {} and has not said that it is ready",
                                            format_duration(uptime_of(c.facts))));
}

std::optional<Judgement> unwatched(const Case& c) {
  if (!c.facts.process || !is_child(c.facts) || !stuck_at_once(c.facts.parent_state))
    return std::nullopt;
  return judged(Outcome::kWarn,
                fmt::format("its {} (pid {}) is {}: nobody would restart it", c.facts.parent_name,
                            c.facts.process->parent, stuck_words(c.facts.parent_state)));
}

/// The first one that applies says what is wrong, so a cause comes before its consequences.
constexpr std::optional<Judgement> (*kRules[])(const Case&) = {
    crash_loop, down,          finishing, paused,    wrong_process,
    stuck,      being_stopped, too_young, not_ready, unwatched};

void forget_before(std::deque<TimePoint>& times, TimePoint limit) {
  while (!times.empty() && (times.front() < limit || times.size() > kMostRemembered))
    times.pop_front();
}

}  // namespace

std::string_view to_string(Supervisor supervisor) noexcept {
  switch (supervisor) {
    case Supervisor::kRunit: return "runit";
    case Supervisor::kS6: return "s6";
    case Supervisor::kDaemontools: return "daemontools";
  }
  return "runit";
}

std::string_view program_of(Supervisor supervisor) noexcept {
  switch (supervisor) {
    case Supervisor::kRunit: return "runsv";
    case Supervisor::kS6: return "s6-supervise";
    case Supervisor::kDaemontools: return "supervise";
  }
  return "runsv";
}

std::string_view to_string(State state) noexcept {
  switch (state) {
    case State::kDown: return "down";
    case State::kRun: return "run";
    case State::kFinish: return "finish";
  }
  return "down";
}

void RestartMemory::feed(State state, bool want_up, WallTime changed, Duration within,
                         TimePoint now) {
  if (!want_up) {
    *this = {};
    return;
  }
  if (state == State::kRun) {
    // The first start that is seen may be the service's only one.
    if (last_start_ && *last_start_ != changed) starts_.push_back(now);
    last_start_ = changed;
  } else if (state == State::kDown) {
    if (last_end_ != changed) ends_.push_back(now);
    last_end_ = changed;
  }
  forget_before(starts_, now - within);
  forget_before(ends_, now - within);
}

std::size_t RestartMemory::count() const noexcept {
  return std::max(starts_.size(), ends_.size());
}

Judgement judge_service(const ServiceFacts& facts, const ServicePolicy& policy, Duration waiting) {
  if (policy.as_calico && facts.state == State::kRun) return {};
  const Case here{facts, policy, waiting};
  for (const auto rule : kRules) {
    if (std::optional<Judgement> judgement = rule(here)) return *std::move(judgement);
  }
  return {};
}

}  // namespace wardmote::judge
