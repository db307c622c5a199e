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
  double share = 0.3;         ///< more than this part of all watched things of the kind,
  std::size_t least = 5;      ///< but at least this many
  Duration window = std::chrono::minutes(1);
  Duration delay = std::chrono::minutes(5);  ///< how long it must be calm before the storm ends
  /// how long without another failure before the number is reported
  Duration recount = std::chrono::seconds(10);
};

/// Notices when so many things of one kind fail at once that the cause lies elsewhere. Then no
/// single incident is reported, and nothing may act.
class StormGuard {
 public:
  explicit StormGuard(StormPolicy policy) : policy_(policy) {}

  /// A thing began to fail; `population` is the number of things of its kind. Returns whether a
  /// storm of the kind begins with it.
  bool begin(const std::string& kind, const std::string& name, std::size_t population,
             TimePoint now);
  /// Whether so many fail that it would be a storm, if none is going on.
  bool crowds(const std::string& kind, const std::string& name, std::size_t population,
              TimePoint now);
  void start(const std::string& kind, TimePoint now);
  /// The thing is good again, or its cause is known: it makes no storm.
  void forget(const std::string& kind, const std::string& name);
  /// The largest number of things that is no storm.
  [[nodiscard]] std::size_t threshold(std::size_t population) const;
  /// A storm of an earlier run goes on.
  void resume(const std::string& kind, TimePoint now) { storms_[kind] = now; }
  /// The cause is known: there was no storm.
  void call_off(const std::string& kind) { storms_.erase(kind); }
  [[nodiscard]] bool rages(std::string_view kind) const { return storms_.contains(kind); }
  [[nodiscard]] bool any() const noexcept { return !storms_.empty(); }
  /// Ends storms that have been calm for the delay: nothing of the kind began to fail during it.
  void pass(TimePoint now);
  /// When pass() may have something to end.
  [[nodiscard]] std::optional<TimePoint> next() const;

 private:
  struct Kind {
    std::deque<std::pair<TimePoint, std::string>> begun;  ///< at most one entry for each thing
    std::set<std::string, std::less<>> things;
  };
  void trim(Kind& kind, TimePoint before) const;

  StormPolicy policy_;
  std::map<std::string, Kind, std::less<>> kinds_;
  /// time of the last beginning of each kind
  std::map<std::string, TimePoint, std::less<>> storms_;
};

}  // namespace wardmote::judge::incident
