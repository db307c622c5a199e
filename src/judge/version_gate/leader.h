#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

#include "base/time.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// Metropolis's own values (service_reconciler.go; cenkalti/backoff, whose interval grows by half).
struct Timing {
  /// From the claim to the first write. No less than a leader that is gone may go on to write: the
  /// part of its lease for which it works, and the deadline of one write.
  Duration reconcile_wait = std::chrono::seconds(5);
  Duration pass_every = std::chrono::seconds(30);
  /// From the end of a pass to the next one at least, however much is disturbed.
  Duration least_pause = std::chrono::seconds(2);
  Duration first_retry = std::chrono::milliseconds(100);
  Duration longest_retry = std::chrono::seconds(60);
  friend bool operator==(const Timing&, const Timing&) = default;
};

/// What a leader has read of the store.
struct Facts {
  Membership nodes;
  Stored stored;
  Revision claimed =
      0;  ///< the last change of the record of the last claim; 0: nobody ever claimed
  std::optional<Release> preserved{};  ///< which somebody preserves: may_campaign()
  Revision read_at = 0;                ///< the revision at which `stored` and `claimed` were read
};

/// One transaction of a leader. It always has the condition that its own key in the election is the
/// one that it created.
struct Write {
  Revision status_unchanged_since = 0;  ///< 0: there is none
  Revision claim_unchanged_since = 0;   ///< the same
  /// No registration is newer than this. Registrations that are gone since then do not count: they
  /// blocked at most.
  std::optional<Revision> nodes_unchanged_since{};
  bool claim = false;              ///< put the record of the claim
  bool quarantine = false;         ///< put the bytes of the status under another key
  std::optional<Status> status{};  ///< put the status
};

/// What the leader of a gate does, from its election to its end: checks, claims, waits, writes all
/// objects, says so, and does the last two again and again. Nothing in it is remembered from an
/// earlier leader: all of that is in the store.
/// Use: next() says what is to be done now. After a Write comes written() or unsure(), after a Pass
/// passed() or failed(). Before each single write of a pass may_write() is asked.
class Leader {
 public:
  /// A newer node is there: stop, and leave the election.
  struct StandDown {};
  /// Read the nodes and the status again; what is known is too old.
  struct Read {};
  struct Blocked {
    Clearance clearance;
  };
  struct Wait {
    TimePoint until;
  };
  /// Write all objects that differ.
  struct Pass {};
  /// What was ordered last has not ended.
  struct Busy {};
  using Step = std::variant<StandDown, Read, Blocked, Write, Wait, Pass, Busy>;

  Leader(Product own, Timing timing) : own_(std::move(own)), timing_(timing) {}

  Step next(const Facts& facts, TimePoint now);

  /// The transaction was made, or (`held` is false) it was not since a condition did not hold.
  void written(bool held, Revision revision, TimePoint now);
  /// Nobody knows whether the transaction was made.
  void unsure();
  /// Each object is as it should be.
  void passed(TimePoint now);
  /// Some object could not be written, or may_write() refused. `share`: random, from 0 to below 1.
  void failed(TimePoint now, double share);

  /// Something is no longer as the last pass has left it: after a good pass the next one comes
  /// soon.
  void disturbed(TimePoint now);

  /// Whether an object may be written now, as far as the store says. The lease is asked elsewhere.
  [[nodiscard]] bool may_write(const Facts& facts) const;
  /// The case in which it claimed last.
  [[nodiscard]] Case which() const noexcept { return which_; }

 private:
  enum class Phase : std::uint8_t {
    kEnter,
    kClaim,   ///< the transaction is under way
    kWait,    ///< for reconcileWait
    kPass,    ///< until a pass is whole
    kRecord,  ///< puts what is done
    kRest,    ///< until the next pass
  };
  [[nodiscard]] bool is_as_we_left_it(const Facts& facts) const noexcept;
  Step enter_gate(const Facts& facts);
  Step order_pass(TimePoint now);

  Product own_;
  Timing timing_;
  Phase phase_ = Phase::kEnter;
  Case which_ = Case::kLost;
  bool busy_ = false;  ///< a transaction or a pass was ordered and has not ended
  Write write_;        ///< the transaction that is under way
  bool wait_ = true;
  /// The status was put after the claim. It is put also where it says the same already, so that
  /// nodes that remember another history see that somebody has made a whole pass in this one.
  bool recorded_ = false;
  std::optional<Status> stored_;  ///< what is stored by now, as far as this leader knows
  Revision status_at_ = 0;        ///< the last change of the status that this leader knows of
  Revision claim_at_ = 0;
  Revision needed_ = 0;  ///< what was read before this revision is too old
  TimePoint next_at_;
  std::optional<TimePoint> passed_at_;  ///< the last pass, if it went well
  Duration retry_{};
};

}  // namespace wardmote::judge::version_gate
