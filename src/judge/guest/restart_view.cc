#include "judge/guest/restart_view.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "judge/guest/activity.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

bool off(const Standing& standing) noexcept {
  return standing.run == Run::kShutOff;
}

/// Who must be asked first.
std::optional<std::string> owner_objects(const RestartView& view) {
  const std::optional<bool> wanted = view.policy.restart.wanted;
  if (wanted == false) return "its metadata says restart='no'";
  if (view.nova && !view.policy.restart.nova && wanted != true) {
    return "it belongs to Nova, which may restart it, too: set 'nova: true' under 'restart' of "
           "'guests', or restart='yes' in its metadata";
  }
  return std::nullopt;
}

/// What is being done to it.
std::optional<std::string> work_objects(const RestartView& view) {
  if (view.migrates) return "it migrates";
  if (!view.standing->job.empty()) return fmt::format("{} is under way", view.standing->job);
  if (view.frozen) return "its file systems were frozen when it was asked last, as by a backup";
  if (view.held) return "somebody else's command is under way at its agent, as of a backup";
  return std::nullopt;
}

/// Of a guest whose QEMU runs: what an earlier life of the agent saw may be of another guest.
std::optional<std::string> silence_objects(const RestartView& view) {
  if (view.standing->run != Run::kRunning)
    return fmt::format("it is {}", to_string(view.standing->run));
  if (view.verdict == Verdict::kBootStuck) {
    if (!view.boots_for || *view.boots_for < view.policy.boot_deadline)
      return "it was not watched for the whole of 'boot_deadline' since the agent started";
  } else {
    if (view.boots_for) return "it boots";
    if (view.channel != Channel::kConnected) return "no agent has the port open, so none is silent";
    if (view.failures < view.policy.threshold)
      return fmt::format("{} of {} pings had no answer since the agent started", view.failures,
                         view.policy.threshold);
  }
  if (view.activity != Activity::kIdle && view.activity != Activity::kSpinning)
    return "its counters do not say that it does nothing";
  // Over the whole window it may have run, and be stopped now: then the host is to blame.
  const Duration lately = std::max<Duration>(kRunsWithin, view.policy.interval * 3 / 2);
  if (!view.ran_ago || *view.ran_ago > lately) return "its QEMU used no CPU time lately";
  if (view.counted < kCountedFor)
    return fmt::format("its counters were compared for {} only, and {} are needed",
                       format_duration(view.counted), spell_duration(kCountedFor));
  return std::nullopt;
}

std::optional<std::string> verdict_objects(const RestartView& view) {
  const Standing& now = *view.standing;
  if (view.again) return "it is lost again and again: somebody must look at it";
  switch (view.verdict) {
    case Verdict::kPanic:
      if (now.run == Run::kCrashed) return std::nullopt;
      return fmt::format("it is {}", to_string(now.run));
    case Verdict::kDied:
      if (off(now) && now.ended == Ended::kFailed) return std::nullopt;
      return off(now) ? "somebody has shut it down since" : "it runs";
    case Verdict::kIdleHung:
    case Verdict::kSpinning:
    case Verdict::kBootStuck: return silence_objects(view);
    default: return fmt::format("it is {}, and that is no dead guest", to_string(view.verdict));
  }
}

}  // namespace

void describe(const Machine& machine, TimePoint now, RestartView& view) {
  view.watched = machine.policy().watched;
  view.verdict = machine.verdict(now);
  view.since = machine.since();
  view.again = machine.keeps_failing();
  view.failures = machine.failures();
  view.channel = machine.channel();
  view.activity = machine.activity().activity();
  view.counted = machine.activity().span();
  view.boots_for = machine.boots_for(now);
  view.migrates = machine.migrates(now);
  view.policy = machine.policy();
}

std::optional<std::string> came_back(const RestartView& view, int process) {
  if (view.gone) return "there is no such guest any more";
  if (view.standing && view.standing->process >= 0 && view.standing->process != process)
    return fmt::format("it was started anew: its id is {}, and was {}", view.standing->process,
                       process);
  if (view.watched && view.process >= 0 && view.process != process) return "it was started anew";
  if (view.verdict == Verdict::kHealthy) return "it answers";
  return std::nullopt;
}

std::optional<std::string> objection(const RestartView& view, int process) {
  if (auto reason = came_back(view, process)) return reason;
  if (!view.watched) return "it is not watched: it was shut down, or nobody wants it to be";
  if (!view.standing) return "the hypervisor did not say how it is";
  if (auto reason = owner_objects(view)) return reason;
  if (!view.standing->persistent) return "it is transient: once ended, it would be gone";
  if (auto reason = work_objects(view)) return reason;
  if (auto reason = verdict_objects(view)) return reason;
  if (view.lost >= kLostTogether)
    return fmt::format("{} guests of this host are lost: look at the host first", view.lost);
  return std::nullopt;
}

}  // namespace wardmote::judge::guest
