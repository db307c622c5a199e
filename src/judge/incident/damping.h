#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace wardmote::judge::incident {

struct DampingPolicy {
  double suppress = 3.0;  ///< a thing with this penalty flaps
  double reuse = 1.0;     ///< and is calm again below this
  double most = 6.0;
  Duration half_life = std::chrono::minutes(10);
};

/// Decaying penalties, as in route flap damping (RFC 2439 4.2): each beginning adds one, and time
/// halves the sum.
class Damping {
 public:
  explicit Damping(DampingPolicy policy) : policy_(policy) {}

  /// It began (again); returns whether it flaps now.
  bool begin(const std::string& name, TimePoint now);
  /// It flapped in an earlier run.
  void resume(const std::string& name, TimePoint now) {
    penalties_[name] = {policy_.suppress, now};
  }
  /// Whether it has been calm for long enough.
  [[nodiscard]] bool calm(const std::string& name, TimePoint now) const;
  /// When it will be calm, if it does not begin again.
  [[nodiscard]] TimePoint calm_at(const std::string& name) const;
  /// Forgets penalties that have decayed.
  void forget(TimePoint now);

 private:
  struct Penalty {
    double value = 0;
    TimePoint at;
  };
  [[nodiscard]] double decayed(const Penalty& penalty, TimePoint now) const;

  DampingPolicy policy_;
  std::map<std::string, Penalty, std::less<>> penalties_;
};

}  // namespace wardmote::judge::incident
