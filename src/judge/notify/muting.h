#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/notify/matcher.h"

namespace wardmote::judge::notify {

/// Somebody wants to hear nothing of what matches, for a time that he gave by the wall clock.
struct Silence {
  std::int64_t id = 0;
  std::vector<Matcher> match;  ///< at least one
  WallTime from;
  WallTime until;
  std::string by;
  std::string comment;
  std::string name{};  ///< of one that stands in the configuration and has no number; else empty
  friend bool operator==(const Silence&, const Silence&) = default;
};

/// A time of the week in which work is expected, in UTC.
struct Maintenance {
  std::string name;
  std::vector<Matcher> match;
  std::uint8_t days = 0x7f;  ///< bit 0 is Monday
  Duration begins{};         ///< after midnight
  Duration length{};         ///< at most a day

  [[nodiscard]] bool on(WallTime at) const noexcept;
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

/// What is not told, and why.
class Muting {
 public:
  explicit Muting(std::vector<Maintenance> maintenance) : maintenance_(std::move(maintenance)) {}

  void set_maintenance(std::vector<Maintenance> maintenance) {
    maintenance_ = std::move(maintenance);
  }
  /// Those that stand in the configuration: nobody ends them but who writes there.
  void set_configured(std::vector<Silence> silences) { configured_ = std::move(silences); }
  [[nodiscard]] const std::vector<Silence>& configured() const noexcept { return configured_; }
  /// Replaces one of the same number.
  void put(Silence silence);
  /// False when there is none.
  bool remove(std::int64_t id);
  [[nodiscard]] const std::vector<Silence>& silences() const noexcept { return silences_; }
  /// A number that was never used.
  [[nodiscard]] std::int64_t next_id() const noexcept { return last_id_ + 1; }

  /// Who mutes it now: `silence 3`, `silence upgrade`, `maintenance nightly`; nothing when nobody
  /// does.
  [[nodiscard]] std::optional<std::string> by(const Labels& labels, WallTime now) const;
  /// Removes the silences that have been over for `keep`; their numbers.
  std::vector<std::int64_t> forget(WallTime now, Duration keep);

 private:
  std::vector<Maintenance> maintenance_;
  std::vector<Silence> silences_;
  std::vector<Silence> configured_;
  std::int64_t last_id_ = 0;
};

}  // namespace wardmote::judge::notify
