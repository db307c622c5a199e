#pragma once

#include <cstdint>

#include "judge/check_machine.h"

namespace wardmote::judge::guest {

/// The rules of Masakari's introspective instance monitor for one guest, as they are
/// (qemu_utils.py, cache.py of masakari-monitors 2023–2026): it notifies at the failure after the
/// next of the threshold, and once for each start of the guest.
class MasakariJournal {
 public:
  /// What its client does with a notification. It swallows most errors.
  enum class Delivery : std::uint8_t {
    kReturned,  ///< sent, or given up in silence: it counts as sent
    kRaised,    ///< an exception: it does not, and the next failure tries again
  };

  /// Returns whether to notify now; then call notified() before the next ping. `threshold` may
  /// change at any time.
  [[nodiscard]] bool begin_failure(int threshold) const noexcept;
  /// The rest of what one failed ping does.
  void end_failure() noexcept;
  void notified(Delivery delivery) noexcept;
  void answered() noexcept;
  /// LIFECYCLE STARTED, whatever its reason.
  void started() noexcept { *this = MasakariJournal(); }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] int failures() const noexcept { return failures_; }
  [[nodiscard]] bool sent() const noexcept { return sent_; }
  /// As an earlier life of the agent left it.
  static MasakariJournal recall(State state, int failures, bool sent) noexcept;
  friend bool operator==(const MasakariJournal&, const MasakariJournal&) = default;

 private:
  State state_ = State::kDiscovery;
  int failures_ = 0;
  bool sent_ = false;
};

}  // namespace wardmote::judge::guest
