#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "judge/failover/member.h"
#include "store/clock_pair.h"
#include "store/shared_end.h"

namespace wardmote::store {

/// Where a pair of databases keeps what its nodes share: all below `failover/NAME/`.
struct FailoverKeys {
  std::string prefix;

  explicit FailoverKeys(std::string_view pair);
  /// Candidates are below it.
  [[nodiscard]] std::string election() const { return prefix + "leader"; }
  [[nodiscard]] std::string members() const { return prefix + "member/"; }
  [[nodiscard]] std::string member(std::string_view node) const;
  [[nodiscard]] std::string pair() const { return prefix + "pair"; }
  [[nodiscard]] std::string pause() const { return prefix + "pause"; }
  [[nodiscard]] std::string order() const { return prefix + "order"; }
  [[nodiscard]] std::string schedule() const { return prefix + "schedule"; }
  [[nodiscard]] std::string settings(std::string_view node) const;
  [[nodiscard]] std::string history(std::uint64_t epoch) const;
};

/// What an operator wants, until the active node or the one it names has taken it up.
struct FailoverOrder {
  std::string to;       ///< the node that is to be promoted; empty: any, but not the active one
  bool forced = false;  ///< whatever the others have; only while nobody is active
  std::string by;
  std::int64_t until_ms = 0;  ///< wall clock; then it is void
  std::string answer;         ///< what came of it; empty: nothing yet
};

/// A switchover that waits for its time.
struct FailoverSchedule {
  std::string to;  ///< as of an order
  std::string by;
  WallTime at;
};

/// What an operator has set for one node at run time. It counts before the configuration of that
/// node; what is absent is as configured.
struct FailoverSettings {
  std::optional<int> priority{};  ///< -1000 to 1000
  std::optional<bool> nofailover{};
  std::string by;
  [[nodiscard]] bool empty() const noexcept { return !priority && !nofailover; }
};

/// A change of these. Nothing leaves a setting as it is; a nothing inside takes it back to what the
/// node has in its configuration.
struct FailoverEdit {
  std::string node;
  std::optional<std::optional<int>> priority{};
  std::optional<std::optional<bool>> nofailover{};
  std::string by;
};
FailoverSettings edited(FailoverSettings settings, const FailoverEdit& edit);

struct FailoverPause {
  std::string by;
  std::optional<TimePoint> until{};  ///< nothing: until somebody resumes
};

/// One promotion.
struct FailoverEvent {
  std::uint64_t epoch = 0;
  std::string node;
  std::string reason;
  WallTime at;
};

/// One line of JSON each. The decoders answer kProtocol for what is no such record; texts in it
/// are cut and escaped.
std::string encode(const judge::failover::Member& member);
Result<judge::failover::Member> decode_member(std::string_view name, std::string_view record);
std::string encode(const judge::failover::PairRecord& record);
Result<judge::failover::PairRecord> decode_pair(std::string_view record);
std::string encode(const FailoverOrder& order);
Result<FailoverOrder> decode_failover_order(std::string_view record);
std::string encode(const FailoverSchedule& schedule);
Result<FailoverSchedule> decode_failover_schedule(std::string_view record);
std::string encode(const FailoverSettings& settings);
Result<FailoverSettings> decode_failover_settings(std::string_view record);
std::string encode(const FailoverPause& pause, const ClockPair& clock);
Result<FailoverPause> decode_failover_pause(std::string_view record, const ClockPair& clock);
using FailoverPauseReader = StandingReader<FailoverPause, decode_failover_pause>;
std::string encode(const FailoverEvent& event);
Result<FailoverEvent> decode_failover_event(std::string_view record);

}  // namespace wardmote::store
