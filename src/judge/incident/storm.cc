#include "judge/incident/storm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace wardmote::judge::incident {

std::size_t StormGuard::threshold(std::size_t population) const {
  const auto share =
      static_cast<std::size_t>(std::floor(static_cast<double>(population) * policy_.share));
  return std::min(policy_.subjects, std::max(share, policy_.least - 1));
}

void StormGuard::trim(Kind& kind, TimePoint before) const {
  while (!kind.begun.empty() && kind.begun.front().first < before) {
    kind.things.erase(kind.begun.front().second);
    kind.begun.pop_front();
  }
}

bool StormGuard::begin(const std::string& kind, const std::string& name, std::size_t population,
                       TimePoint now) {
  if (!crowds(kind, name, population, now)) return false;
  start(kind, now);
  return true;
}

bool StormGuard::crowds(const std::string& kind, const std::string& name, std::size_t population,
                        TimePoint now) {
  if (const auto storm = storms_.find(kind); storm != storms_.end()) {
    storm->second = now;
    return false;
  }
  Kind& recent = kinds_[kind];
  trim(recent, now - policy_.window);
  if (recent.things.insert(name).second) recent.begun.emplace_back(now, name);
  return recent.things.size() > threshold(population);
}

void StormGuard::start(const std::string& kind, TimePoint now) {
  storms_[kind] = now;
  kinds_.erase(kind);
}

void StormGuard::forget(const std::string& kind, const std::string& name) {
  const auto recent = kinds_.find(kind);
  if (recent == kinds_.end() || recent->second.things.erase(name) == 0) return;
  std::erase_if(recent->second.begun, [&](const auto& entry) { return entry.second == name; });
}

void StormGuard::pass(TimePoint now) {
  std::erase_if(storms_, [&](const auto& storm) { return now - storm.second >= policy_.delay; });
}

std::optional<TimePoint> StormGuard::next() const {
  std::optional<TimePoint> soonest;
  for (const auto& [kind, last] : storms_) {
    if (!soonest || last + policy_.delay < *soonest) soonest = last + policy_.delay;
  }
  return soonest;
}

}  // namespace wardmote::judge::incident
