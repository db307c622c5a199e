#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace wardmote::judge::incident {

struct StormPolicy {
  std::size_t subjects = 20;  ///< more of one kind than this within the window, or
  double share = 0.3;         ///< more than this part of all that are watched of the kind,
  std::size_t least = 5;      ///< but at least so many
  Duration window = std::chrono::minutes(1);
  Duration delay = std::chrono::minutes(5);  ///< of calm before it is over
};

/// Notices when so much of one kind fails at once that the cause lies elsewhere. Then single
/// incidents say nothing, and nothing may act.
class StormGuard {
 public:
  explicit StormGuard(StormPolicy policy) : policy_(policy) {}

  /// A thing began to fail; `population` is how many of its kind there are. Whether a storm of the
  /// kind begins with it.
  bool begin(const std::string& kind, const std::string& name, std::size_t population,
             TimePoint now);
  [[nodiscard]] bool rages(std::string_view kind) const { return storms_.contains(kind); }
  [[nodiscard]] bool any() const noexcept { return !storms_.empty(); }
  /// Ends what has been calm for the delay: nothing of the kind began to fail within it.
  void pass(TimePoint now);
  /// When pass() may have something to end.
  [[nodiscard]] std::optional<TimePoint> next() const;

 private:
  struct Kind {
    std::deque<std::pair<TimePoint, std::string>> begun;  ///< at most one entry a thing
    std::set<std::string, std::less<>> things;
  };
  [[nodiscard]] std::size_t threshold(std::size_t population) const;
  void trim(Kind& kind, TimePoint before) const;

  StormPolicy policy_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::map<std::string, TimePoint, std::less<>> storms_;  ///< the last beginning in each
};

}  // namespace wardmote::judge::incident
