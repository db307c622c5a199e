#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace wardmote::serve {

/// How often each of many callers may do something: `burst` times at once, then once in every
/// `refill`. Remembers kMost of them; beyond that, it forgets the one that has not called for
/// longest.
class RateLimit {
 public:
  static constexpr std::size_t kMost = 1024;

  RateLimit(int burst, Duration refill) noexcept : burst_(burst), refill_(refill) {}

  /// Takes one token; false when none is left.
  bool take(std::string_view who, TimePoint now);
  /// Whether take() would succeed.
  [[nodiscard]] bool has(std::string_view who, TimePoint now) const;

 private:
  int burst_;
  Duration refill_;
  /// When all taken tokens will be back.
  std::map<std::string, TimePoint, std::less<>> full_at_;
};

}  // namespace wardmote::serve
