#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/weekly.h"

namespace wardmote::judge::notify {

/// Mutes notifications of incidents that match, for a time by the wall clock.
struct Silence {
  std::int64_t id = 0;
  std::vector<Matcher> match;  ///< at least one
  WallTime from;
  WallTime until;
  std::string by;
  std::string comment;
  /// the name of a silence in the configuration, which has no number; else empty
  std::string name{};
  friend bool operator==(const Silence&, const Silence&) = default;
};

/// A weekly maintenance window.
struct Maintenance {
  std::string name;
  std::vector<Matcher> match;
  WeeklyWindow window;
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

/// What is muted, and why.
class Muting {
 public:
  explicit Muting(std::vector<Maintenance> maintenance) : maintenance_(std::move(maintenance)) {}

  void set_maintenance(std::vector<Maintenance> maintenance) {
    maintenance_ = std::move(maintenance);
  }
  /// The silences of the configuration: only a change of the configuration ends them.
  void set_configured(std::vector<Silence> silences) { configured_ = std::move(silences); }
  [[nodiscard]] const std::vector<Silence>& configured() const noexcept { return configured_; }
  /// Replaces a silence with the same number.
  void put(Silence silence);
  /// False when there is none.
  bool remove(std::int64_t id);
  [[nodiscard]] const std::vector<Silence>& silences() const noexcept { return silences_; }
  /// A number that was never used.
  [[nodiscard]] std::int64_t next_id() const noexcept { return last_id_ + 1; }

  /// What mutes it now: `silence 3`, `silence upgrade`, `maintenance nightly`; nothing when it is
  /// not muted.
  [[nodiscard]] std::optional<std::string> by(const Labels& labels, WallTime now) const;
  /// When everything that mutes it now will have ended; nothing when it is not muted.
  [[nodiscard]] std::optional<WallTime> until(const Labels& labels, WallTime now) const;
  /// Removes the silences that ended more than `keep` ago; returns their numbers.
  std::vector<std::int64_t> forget(WallTime now, Duration keep);

 private:
  std::vector<Maintenance> maintenance_;
  std::vector<Silence> silences_;
  std::vector<Silence> configured_;
  std::int64_t last_id_ = 0;
};

}  // namespace wardmote::judge::notify
