#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge {

/// Which finding only follows from which other. While the cause lasts (even within its window,
/// unless it comes and goes), the consequence is not reported. The tracker continues to count for
/// the consequence, so that it is reported at once if it outlives the cause.
struct Suppression {
  enum class Scope : std::uint8_t {
    kSameThing,  ///< the two share a subject
    kWhole,      ///< whatever their subjects are
  };
  enum class From : std::uint8_t { kSeen, kRaised };
  enum class Afterwards : std::uint8_t {
    kAtOnce,
    /// Its evidence is about the time in which the cause lasted, so it must be seen for its own
    /// window after that time.
    kWindowAnew,
  };

  Code cause;
  Code consequence;
  Scope scope;
  From from = From::kSeen;
  Afterwards afterwards = Afterwards::kAtOnce;
};

/// What the tracker needs to know about the round that it judges.
/// What a person should do about a finding.
struct CodeAdvice {
  Code code;
  std::string_view text;
};

struct Look {
  TimePoint now;
  /// The length of a round of the judged thing; windows may be counted in rounds.
  Duration round{};
  /// Whether this round shows nothing about the thing with that key, so that its old conditions
  /// stay as they are.
  std::function<bool(std::string_view)> blind_to;
  std::span<const Suppression> suppressions{};
  /// In place of the catalogue's advice, where that is in the words of another program.
  std::span<const CodeAdvice> advice{};
};

struct ConditionReport {
  std::vector<Finding> findings;   ///< most severe first, then by code and subject
  std::vector<Observed> observed;  ///< in the same order
};

/// The present conditions, and since when they last. A value; as large as the number of conditions
/// in the last round.
class ConditionTracker {
 public:
  /// Adds the conditions of one round. A condition that is neither seen nor hidden in this round is
  /// forgotten.
  ConditionReport update(Conditions conditions, const Look& look);

  /// What has this key has another one from now on, and tells of it by that.
  void rename(std::string_view from, const std::string& to);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    Finding finding;  ///< as last seen
    TimePoint first_shown;
    TimePoint due;
    bool firing = false;
    bool told = false;  ///< the last report had it among its findings
    /// Since when no round could show whether it lasts.
    std::optional<TimePoint> uncertain_since;
    /// When another entry last explained it, if its window begins again after that.
    std::optional<TimePoint> explained_at;
  };

  /// The entries that last after this round, in the order of their findings.
  [[nodiscard]] std::vector<Entry> gather(Conditions conditions, const Look& look) const;
  [[nodiscard]] Entry proceed(Condition condition, const Look& look) const;
  /// `doubt` says what is known better now, if anything.
  static Entry keep(const Entry& old, const Condition* doubt, const Look& look);
  /// The suppression that makes it a consequence of another entry; null if there is none.
  [[nodiscard]] const Suppression* explanation(
      const Entry& consequence, std::span<const Suppression> suppressions) const noexcept;
  [[nodiscard]] const Entry* find(Code code, std::string_view key) const noexcept;

  std::vector<Entry> entries_;
};

}  // namespace wardmote::judge
