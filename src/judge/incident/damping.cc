#include "judge/incident/damping.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/time.h"

namespace wardmote::judge::incident {

double Damping::decayed(const Penalty& penalty, TimePoint now) const {
  const double halvings = std::chrono::duration<double>(now - penalty.at) /
                          std::chrono::duration<double>(policy_.half_life);
  return penalty.value * std::exp2(-std::max(halvings, 0.0));
}

bool Damping::begin(Penalty& penalty, TimePoint now) const {
  penalty = {std::min(decayed(penalty, now) + 1, policy_.most), now};
  return penalty.value >= policy_.suppress;
}

bool Damping::calm(const Penalty& penalty, TimePoint now) const {
  return decayed(penalty, now) < policy_.reuse;
}

TimePoint Damping::calm_at(const Penalty& penalty) const {
  if (penalty.value < policy_.reuse) return penalty.at;
  const std::chrono::duration<double> until =
      std::log2(penalty.value / policy_.reuse) * std::chrono::duration<double>(policy_.half_life);
  // Rounded up, so that the thing is calm at that time.
  return penalty.at + std::chrono::ceil<std::chrono::milliseconds>(until) +
         std::chrono::milliseconds(1);
}

}  // namespace wardmote::judge::incident
