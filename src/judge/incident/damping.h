#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace wardmote::judge::incident {

struct DampingPolicy {
  double suppress = 3.0;  ///< a thing whose penalty reaches this flaps
  double reuse = 1.0;     ///< and is believed again below this
  double most = 6.0;
  Duration half_life = std::chrono::minutes(10);
};

/// Decaying penalties, as route flap damping has them (RFC 2439 4.2): each beginning costs one, and
/// time halves what has gathered.
class Damping {
 public:
  explicit Damping(DampingPolicy policy) : policy_(policy) {}

  /// It began (again); whether it flaps now.
  bool begin(const std::string& name, TimePoint now);
  /// Whether it has been calm for long enough.
  [[nodiscard]] bool calm(const std::string& name, TimePoint now) const;
  /// When it will have been, if it does not begin again.
  [[nodiscard]] TimePoint calm_at(const std::string& name) const;
  /// Forgets what has decayed.
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
