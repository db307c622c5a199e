#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace wardmote::serve {

/// How long probes took.
struct LookTimes {
  static constexpr std::array<double, 9> kBounds{0.0001, 0.00025, 0.0005, 0.001, 0.005,
                                                 0.025,  0.1,     0.5,    1};  ///< seconds
  /// the last counts values above all bounds
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  Duration sum{};

  void add(Duration took) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept;
};

}  // namespace wardmote::serve
