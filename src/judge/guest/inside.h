#pragma once
// What a guest's agent says of the inside of the guest, beside that it is there.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge::guest {

/// What the agent is asked besides pings, and when the answer is a finding.
struct InsidePolicy {
  bool freeze = true;
  bool clock = true;
  bool file_systems = true;
  /// A backup freezes file systems for seconds; one that died left them frozen.
  Duration frozen_after = std::chrono::minutes(10);
  Duration clock_drift = std::chrono::seconds(5);
  int full_percent = 95;
  friend bool operator==(const InsidePolicy&, const InsidePolicy&) = default;
};

/// One question to an agent.
enum class Inquiry : std::uint8_t { kFreeze, kClock, kFileSystems };

/// A mounted file system, as the guest sees it.
struct FileSystem {
  std::string mountpoint;
  std::string type;  ///< `ext4`
  std::uint64_t used = 0;
  std::uint64_t total = 0;  ///< of what its users may use; 0: not known
  friend bool operator==(const FileSystem&, const FileSystem&) = default;
};

/// The inside of one guest, asked for one thing at a time. Of one bad answer nothing follows: a
/// clock that is off and a file system that is full are found when the next answer says so, too.
/// What was found stands until an answer says otherwise, or the guest boots. Pure.
class InsideWatch {
 public:
  /// From one question to a guest to the next.
  static constexpr Duration kPause = std::chrono::minutes(1);
  static constexpr int kLooks = 2;
  static constexpr std::size_t kMostNamed = 8;

  /// What must outlive the agent: what was found, and since when.
  struct Record {
    std::optional<TimePoint> frozen_since;
    std::optional<TimePoint> drifts_since;
    Duration drift{};
    std::optional<TimePoint> full_since;
    std::vector<std::string> full;  ///< mount points
    friend bool operator==(const Record&, const Record&) = default;
  };
  void recall(const Record& record, TimePoint now);
  [[nodiscard]] Record record(const InsidePolicy& policy) const;

  /// What to ask the agent now; nothing: it is not time yet, or nothing is to be asked. While file
  /// systems are frozen an agent answers no other question.
  [[nodiscard]] std::optional<Inquiry> due(const InsidePolicy& policy, TimePoint now) const;
  /// It is asked now, whatever comes of it.
  void asked(Inquiry inquiry, TimePoint now);

  void frozen(bool frozen, TimePoint now);
  /// Its file systems, when it was asked last.
  [[nodiscard]] bool is_frozen() const noexcept { return frozen_since_.has_value(); }
  /// `ahead`: how far the guest's clock is before the host's, give or take `doubt`.
  void clock(Duration ahead, Duration doubt, const InsidePolicy& policy, TimePoint now);
  void file_systems(const std::vector<FileSystem>& all, const InsidePolicy& policy, TimePoint now);
  /// It boots: nothing is known of it.
  void forget() noexcept;

  /// What stands, with summaries of a guest that people call `called`; `key` is its own.
  [[nodiscard]] Conditions conditions(const InsidePolicy& policy, const std::string& called,
                                      const std::string& key, TimePoint now) const;

 private:
  [[nodiscard]] bool is_left_frozen(const InsidePolicy& policy) const noexcept;

  std::optional<TimePoint> asked_;
  Inquiry last_ = Inquiry::kFileSystems;
  std::optional<TimePoint> frozen_since_;
  TimePoint frozen_seen_;
  int drifts_ = 0;  ///< answers in a row
  TimePoint drifts_since_;
  Duration drift_{};
  Duration found_drift_{};  ///< when it was found
  int full_looks_ = 0;
  TimePoint full_since_;
  std::vector<std::string> full_;  ///< mount points
  std::vector<std::string> fill_;  ///< each with how full it is, for people
};

/// Whether the finding is of a guest's inside, and the guest lives.
constexpr bool is_of_inside(Code code) noexcept {
  return code == Code::kVmFsFrozen || code == Code::kVmClockDrift || code == Code::kVmFsFull;
}

}  // namespace wardmote::judge::guest
