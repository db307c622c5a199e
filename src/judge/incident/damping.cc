#include "judge/incident/damping.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "base/time.h"

namespace wardmote::judge::incident {
namespace {

constexpr double kNothing = 0.05;

}  // namespace

double Damping::decayed(const Penalty& penalty, TimePoint now) const {
  const double halvings = std::chrono::duration<double>(now - penalty.at) /
                          std::chrono::duration<double>(policy_.half_life);
  return penalty.value * std::exp2(-std::max(halvings, 0.0));
}

bool Damping::begin(const std::string& name, TimePoint now) {
  Penalty& penalty = penalties_[name];
  penalty.value = std::min(decayed(penalty, now) + 1, policy_.most);
  penalty.at = now;
  return penalty.value >= policy_.suppress;
}

bool Damping::calm(const std::string& name, TimePoint now) const {
  const auto penalty = penalties_.find(name);
  return penalty == penalties_.end() || decayed(penalty->second, now) < policy_.reuse;
}

TimePoint Damping::calm_at(const std::string& name) const {
  const auto found = penalties_.find(name);
  if (found == penalties_.end()) return {};
  const Penalty& penalty = found->second;
  if (penalty.value < policy_.reuse) return penalty.at;
  const std::chrono::duration<double> until =
      std::log2(penalty.value / policy_.reuse) * std::chrono::duration<double>(policy_.half_life);
  // Rounded up, so that the thing is calm at that time.
  return penalty.at + std::chrono::ceil<std::chrono::milliseconds>(until) +
         std::chrono::milliseconds(1);
}

void Damping::forget(TimePoint now) {
  std::erase_if(penalties_,
                [&](const auto& entry) { return decayed(entry.second, now) < kNothing; });
}

}  // namespace wardmote::judge::incident
