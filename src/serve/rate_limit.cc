#include "serve/rate_limit.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace wardmote::serve {

bool RateLimit::has(std::string_view who, TimePoint now) const {
  const auto known = full_at_.find(who);
  return known == full_at_.end() || known->second + refill_ <= now + burst_ * refill_;
}

bool RateLimit::take(std::string_view who, TimePoint now) {
  if (!has(who, now)) return false;
  if (full_at_.size() >= kMost && !full_at_.contains(who)) {
    full_at_.erase(std::ranges::min_element(
        full_at_, {},
        [](const std::pair<const std::string, TimePoint>& one) { return one.second; }));
  }
  TimePoint& full_at = full_at_.try_emplace(std::string(who), now).first->second;
  full_at = std::max(full_at, now) + refill_;
  return true;
}

}  // namespace wardmote::serve
