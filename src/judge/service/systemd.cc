#include "judge/service/systemd.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

constexpr std::size_t kMostRemembered = 1000;

struct Case {
  const SystemdFacts& facts;
  const SystemdPolicy& policy;
  Duration waiting;
};

Judgement judged(Outcome outcome, std::string text) {
  return {outcome, {ReasonCode::kState, std::move(text)}};
}

/// ` for 3.0s`, if that is known.
std::string lasting(const SystemdFacts& facts) {
  return facts.in_state ? fmt::format(" for {}", format_duration(*facts.in_state)) : "";
}

/// `: exit-code, exit code 3`, as far as known.
std::string last_end(const SystemdFacts& facts) {
  std::string text;
  if (!facts.result.empty() && facts.result != "success") text += ": " + facts.result;
  if (facts.signal) text += fmt::format(", signal {}", *facts.signal);
  if (facts.exit_code && *facts.exit_code != 0)
    text += fmt::format(", exit code {}", *facts.exit_code);
  return text;
}

std::optional<Judgement> not_loaded(const Case& c) {
  const std::string& state = c.facts.load_state;
  if (state == "loaded" || state == "merged") return std::nullopt;
  if (state == "not-found")
    return Judgement{Outcome::kFail, {ReasonCode::kMissing, "systemd knows no such unit"}};
  return judged(Outcome::kFail, fmt::format("its unit is {}", state));
}

std::optional<Judgement> crash_loop(const Case& c) {
  if (c.facts.active_state == "inactive" || c.facts.recent_restarts < c.policy.restarts)
    return std::nullopt;
  return judged(Outcome::kFail,
                fmt::format("restarting: {} restarts within {}{}", c.facts.recent_restarts,
                            format_duration(c.policy.within), last_end(c.facts)));
}

std::optional<Judgement> waits_for_restart(const Case& c) {
  if (!c.facts.sub_state.starts_with("auto-restart")) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("it ended and waits to be restarted ({} restarts){}",
                                            c.facts.restarts, last_end(c.facts)));
}

std::optional<Judgement> down(const Case& c) {
  const std::string& state = c.facts.active_state;
  if (state == "failed") {
    return judged(Outcome::kFail, fmt::format("failed{}{}", lasting(c.facts), last_end(c.facts)));
  }
  if (state == "inactive") {
    return judged(Outcome::kFail, fmt::format("inactive ({}){}{}", c.facts.sub_state,
                                              lasting(c.facts), last_end(c.facts)));
  }
  if (state == "deactivating") {
    return judged(Outcome::kFail,
                  fmt::format("being stopped ({}){}", c.facts.sub_state, lasting(c.facts)));
  }
  return std::nullopt;
}

std::optional<Judgement> starting(const Case& c) {
  if (c.facts.active_state == "active" || c.facts.active_state == "reloading" ||
      c.facts.active_state == "refreshing")
    return std::nullopt;
  return judged(Outcome::kUnknown, fmt::format("{} ({}){}", c.facts.active_state, c.facts.sub_state,
                                               lasting(c.facts)));
}

std::optional<Judgement> stuck(const Case& c) {
  if (!c.facts.process) return std::nullopt;
  const char state = c.facts.process->state;
  if (stuck_at_once(state)) {
    return judged(Outcome::kFail,
                  fmt::format("pid {} is {}", c.facts.main_pid, stuck_words(state)));
  }
  if (state != 'D' || c.waiting <= c.policy.longest_wait) return std::nullopt;
  return judged(Outcome::kFail, fmt::format("pid {} has been {} for {}", c.facts.main_pid,
                                            stuck_words(state), format_duration(c.waiting)));
}

std::optional<Judgement> no_process(const Case& c) {
  if (!c.facts.process_sought || c.facts.process) return std::nullopt;
  return judged(
      Outcome::kUnknown,
      fmt::format("no process {} here (does it run in another pid namespace?)", c.facts.main_pid));
}

/// systemd itself ends a service whose watchdog time has passed, so only the time before that is
/// seen for long.
std::optional<Judgement> silent(const Case& c) {
  if (!c.facts.watchdog || !c.facts.watchdog_age) return std::nullopt;
  const Duration age = *c.facts.watchdog_age;
  const Duration limit = *c.facts.watchdog;
  if (age <= limit * 3 / 4) return std::nullopt;
  return judged(age > limit ? Outcome::kFail : Outcome::kWarn,
                fmt::format("it told its watchdog {} ago, its time is {}", format_duration(age),
                            format_duration(limit)));
}

std::optional<Judgement> too_young(const Case& c) {
  if (c.facts.sub_state != "running" || !c.facts.id.ends_with(".service")) return std::nullopt;
  const std::optional<Duration> uptime =
      c.facts.process ? std::optional(c.facts.process->age) : c.facts.in_state;
  if (!uptime || *uptime >= c.policy.min_uptime) return std::nullopt;
  return judged(
      Outcome::kUnknown,
      fmt::format(
          "up for {}, less than {}{}", format_duration(*uptime),
          format_duration(c.policy.min_uptime),
          c.facts.restarts == 0 ? "" : fmt::format(", after {} restarts", c.facts.restarts)));
}

/// The first one that applies says what is wrong.
constexpr std::optional<Judgement> (*kRules[])(const Case&) = {
    not_loaded, crash_loop, waits_for_restart, down, starting, no_process,
    stuck,      silent,     too_young};

}  // namespace

std::size_t RestartCounter::feed(std::uint64_t restarts, Duration within, TimePoint now) {
  if (last_ && restarts < *last_) seen_.clear();
  if (last_ && restarts > *last_) seen_.emplace_back(now, restarts - *last_);
  last_ = restarts;
  while (!seen_.empty() && (seen_.front().first < now - within || seen_.size() > kMostRemembered))
    seen_.pop_front();
  return static_cast<std::size_t>(
      std::accumulate(seen_.begin(), seen_.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& one) { return sum + one.second; }));
}

Judgement judge_systemd(const SystemdFacts& facts, const SystemdPolicy& policy, Duration waiting) {
  const Case here{facts, policy, waiting};
  for (const auto rule : kRules) {
    if (std::optional<Judgement> judgement = rule(here)) return *std::move(judgement);
  }
  return {};
}

}  // namespace wardmote::judge
