#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/guest/facts.h"

namespace wardmote::judge::guest {

/// What the counters of a guest show while its agent is silent.
enum class Activity : std::uint8_t {
  kUnknown,   ///< too few counters, or too close together
  kBusy,      ///< it reads, writes or sends: it lives
  kSpinning,  ///< it uses a CPU or more, and does no I/O
  kIdle,      ///< hardly any CPU, no I/O: an idle guest looks like a halted one
  kFrozen,    ///< not the smallest part of a CPU: QEMU itself does not run
};

/// Compares counters over a window that ends with the last ones.
class ActivityWatch {
 public:
  /// Long enough to forget the last I/O of a guest that hangs now.
  static constexpr Duration kWindow = std::chrono::minutes(2);
  /// An idle guest may use less than one tick of the clock in a shorter time.
  static constexpr Duration kFrozenAfter = std::chrono::seconds(10);
  static constexpr Duration kShortest = std::chrono::milliseconds(500);
  /// So much of one CPU is spinning, on how many CPUs ever: a panic halts all others, and a host
  /// with more guests than CPUs gives each a part. An idle guest uses a hundredth of that.
  static constexpr double kSpinningShare = 0.3;

  void add(const Counters& counters);
  void forget() { samples_.clear(); }

  [[nodiscard]] Activity activity() const noexcept;
  /// `0.2 % of a CPU, no disk request, no packet sent in 20s`; empty while nothing is known.
  [[nodiscard]] std::string text() const;
  /// From the first counters to the last.
  [[nodiscard]] Duration span() const noexcept;

 private:
  std::deque<Counters> samples_;  ///< at most two windows long, and bounded in number
};

}  // namespace wardmote::judge::guest
