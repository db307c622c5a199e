#include "observe/guests/turns.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace wardmote::observe::guests {

void Turns::wait(const Claim& claim, TimePoint now) {
  std::erase_if(waiting_, [&](const auto& one) {
    const auto& forget = one.second.forget;
    return forget && *forget < now && one.first != claim.uuid;
  });
  const auto [place, added] = waiting_.try_emplace(claim.uuid, Waiting{claim, now, {}});
  place->second.claim = claim;
  place->second.forget.reset();
}

std::size_t Turns::count(Lane lane) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(busy_, [&](const auto& one) { return one.second.lane == lane; }));
}

/// Who is well may use a place of the slow lane that nobody there wants.
std::optional<Turns::Lane> Turns::free_for(Lane lane) const {
  if (lane == Lane::kFast && count(Lane::kFast) < kFast) return Lane::kFast;
  const bool wanted = lane == Lane::kFast && waits(Lane::kSlow);
  if (wanted || count(Lane::kSlow) >= kSlow || busy_.size() >= kMost) return std::nullopt;
  return Lane::kSlow;
}

bool Turns::waits(Lane lane) const {
  return first(lane, false) != nullptr || first(lane, true) != nullptr;
}

std::optional<Turns::Lane> Turns::take_idle(const std::string& uuid) {
  if (asks(uuid)) return std::nullopt;
  const bool slow = !waits(Lane::kSlow) && free_for(Lane::kSlow).has_value();
  // It may take long, and who is well needs a place at once.
  if (!slow && (waits(Lane::kFast) || count(Lane::kFast) + 2 > kFast)) return std::nullopt;
  const Lane lane = slow ? Lane::kSlow : Lane::kFast;
  busy_[uuid] = {lane};
  return lane;
}

void Turns::overdue(const std::string& uuid) {
  const auto call = busy_.find(uuid);
  if (call != busy_.end()) call->second.overdue = true;
}

bool Turns::is_overdue(const std::string& uuid) const {
  const auto call = busy_.find(uuid);
  return call != busy_.end() && call->second.overdue;
}

const Turns::Waiting* Turns::first(Lane lane, bool yields) const {
  const Waiting* longest = nullptr;
  for (const auto& [uuid, one] : waiting_) {
    if (one.forget || one.claim.lane != lane || one.claim.yields != yields) continue;
    if (longest == nullptr || one.since < longest->since) longest = &one;
  }
  return longest;
}

std::optional<Turns::Lane> Turns::take(const std::string& uuid) {
  const auto place = waiting_.find(uuid);
  if (place == waiting_.end() || asks(uuid)) return std::nullopt;
  const Lane lane = place->second.claim.lane;
  const Waiting* const before = first(lane, false);
  const Waiting* const yields = first(lane, true);
  const bool turn_of_yields =
      yields != nullptr && (before == nullptr || passed_by_[lane] >= kInARow);
  const Waiting* const next = turn_of_yields ? yields : before;
  const auto free = free_for(lane);
  if (next != &place->second || !free) return std::nullopt;
  passed_by_[lane] = turn_of_yields || yields == nullptr ? 0 : passed_by_[lane] + 1;
  busy_[uuid] = {*free};
  waiting_.erase(place);
  // There may be another place, for who is first now.
  changed_.notify();
  return free;
}

void Turns::leave(const std::string& uuid, TimePoint now) {
  const auto place = waiting_.find(uuid);
  if (place == waiting_.end()) return;
  place->second.forget = now + place->second.claim.keep;
  changed_.notify();
}

void Turns::release(const std::string& uuid) {
  if (busy_.erase(uuid) > 0) changed_.notify();
}

}  // namespace wardmote::observe::guests
