#pragma once

#include <chrono>

#include "base/time.h"

namespace wardmote::judge::incident {

struct DampingPolicy {
  double suppress = 3.0;  ///< a thing with this penalty flaps
  double reuse = 1.0;     ///< and is calm again below this
  double most = 6.0;
  Duration half_life = std::chrono::minutes(10);
};

/// How often a thing began lately, as it was at that time.
struct Penalty {
  double value = 0;
  TimePoint at{};
  friend bool operator==(const Penalty&, const Penalty&) = default;
};

/// Decaying penalties, as in route flap damping (RFC 2439 4.2): each beginning adds one, and time
/// halves the sum.
class Damping {
 public:
  explicit Damping(DampingPolicy policy) : policy_(policy) {}

  /// It began (again); returns whether it flaps now.
  bool begin(Penalty& penalty, TimePoint now) const;
  /// That of a thing that has just begun to flap.
  [[nodiscard]] Penalty flapping(TimePoint now) const { return {policy_.suppress, now}; }
  /// Whether it has been calm for long enough.
  [[nodiscard]] bool calm(const Penalty& penalty, TimePoint now) const;
  /// When it will be calm, if it does not begin again.
  [[nodiscard]] TimePoint calm_at(const Penalty& penalty) const;

 private:
  [[nodiscard]] double decayed(const Penalty& penalty, TimePoint now) const;

  DampingPolicy policy_;
};

}  // namespace wardmote::judge::incident
