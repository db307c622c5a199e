#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "act/failover/replica.h"
#include "base/result.h"
#include "cli/ocf/parameters.h"
#include "judge/failover/candidate.h"

namespace wardmote::cli::ocf {

/// What a node remembers of its two databases, in a file beside them: it lives and dies with them.
struct State {
  /// These two processes were promoted by us. Others under the same files were not: an ovsdb-server
  /// becomes writable by itself when its replication fails.
  std::optional<act::failover::ProcessId> promoted_nb;
  std::optional<act::failover::ProcessId> promoted_sb;
  std::uint64_t epoch = 0;  ///< the highest that both databases were seen with
  judge::failover::SyncState sync = judge::failover::SyncState::kUnknown;
  /// It was writable since it was last a whole copy of the active node's, so it may have rows that
  /// nobody else has.
  bool diverged = false;
  /// Nothing told it from the other copies when it was last prepared for a promotion.
  bool matched = false;
  /// It was asked to become active and left that to a copy that has more; it does so once.
  bool yielded = false;
  bool unannounced = false;  ///< the cluster does not know of this node's promotion
  std::string quarantine;    ///< why this copy must not be promoted; empty: it may
  std::string told;          ///< the last score and position that the cluster was told
  std::int64_t told_at = 0;  ///< seconds since boot
  friend bool operator==(const State&, const State&) = default;
};

std::string format(const State& state);
/// Lines that are not known are passed over.
State parse_state(std::string_view text);

/// Empty when there is none.
State load_state(const Parameters& parameters);
/// Replaces the file in one step, and waits for the disk. An error leaves the old one.
Result<void> save_state(const Parameters& parameters, const State& state);

}  // namespace wardmote::cli::ocf
