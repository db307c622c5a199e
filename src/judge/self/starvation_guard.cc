#include "judge/self/starvation_guard.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"

namespace wardmote::judge {

void StarvationGuard::mark(TimePoint from, TimePoint to, const char* why, Duration jump) noexcept {
  // Stretches that touch become one, because a probe may span both.
  const bool touches = starved_from_ && from <= starved_to_ + policy_.late_limit;
  starved_from_ = touches ? std::min(*starved_from_, from) : from;
  starved_to_ = touches ? std::max(starved_to_, to) : to;
  why_ = why;
  jump_ = jump;
}

void StarvationGuard::beat(TimePoint due, TimePoint now, WallTime wall) noexcept {
  if (now - due >= policy_.late_limit) mark(due, now, "its timers ran late");
  if (last_beat_) {
    const Duration drift = (wall - last_wall_) - (now - *last_beat_);
    if (std::chrono::abs(drift) >= policy_.jump_limit)
      mark(*last_beat_, now, "the wall clock jumped", drift);
  }
  last_beat_ = now;
  last_wall_ = wall;
}

void StarvationGuard::exhausted(TimePoint now) noexcept {
  mark(now, now, "it lacked descriptors or memory");
}

bool StarvationGuard::voids(TimePoint begun, TimePoint ended) const noexcept {
  return starved_from_ && begun <= starved_to_ && ended >= *starved_from_;
}

std::optional<std::string> StarvationGuard::complaint(TimePoint now) const {
  if (!starved_from_ || now - starved_to_ >= policy_.quiet_after) return std::nullopt;
  if (jump_ != Duration::zero()) {
    return fmt::format(
        "prober starved: {} {} by {}, {} ago", why_, jump_ > Duration::zero() ? "forward" : "back",
        format_duration(std::chrono::abs(jump_)), format_duration(now - starved_to_));
  }
  return fmt::format("prober starved: {} for {}, {} ago", why_,
                     format_duration(starved_to_ - *starved_from_),
                     format_duration(now - starved_to_));
}

}  // namespace wardmote::judge
