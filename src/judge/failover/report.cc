#include "judge/failover/report.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {

std::optional<std::size_t> lag_of(const Member& member, const PairRecord& record) noexcept {
  if (member.trail.empty() || record.trail.empty()) return std::nullopt;
  const Relation relation = relate(member.trail, record.trail);
  if (relation == Relation::kSame || relation == Relation::kAhead) return 0;
  if (relation == Relation::kUnknown) return std::nullopt;
  const auto at = std::ranges::find(record.trail, member.trail.back());
  return static_cast<std::size_t>(record.trail.end() - at) - 1;
}

std::string_view to_string(Lock lock) noexcept {
  switch (lock) {
    case Lock::kMine: return "mine";
    case Lock::kReleased: return "released";
    case Lock::kOther: return "other";
    case Lock::kNone: return "none";
    case Lock::kUnknown: return "unknown";
  }
  return "unknown";
}

}  // namespace wardmote::judge::failover
