#include "store/seen_revision.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/format.h"

namespace wardmote::store {

namespace {

/// So many beats may be missed by who reads them all.
constexpr std::uint64_t kMostMissed = 2;

}  // namespace

void SeenRevision::answered(const Mark& asked, Revision revision, bool wrote) {
  if (asked.history != history_) return;
  if (revision >= asked.revision + (wrote ? 1 : 0)) {
    see(revision);
    return;
  }
  const Revision from = std::exchange(newest_, revision);
  beat_ = 0;
  beat_read_ = false;
  set_back(fmt::format("the store was at revision {}, and what it says is of {}", from, revision));
}

void SeenRevision::answered_beat(const Mark& asked, std::uint64_t beat) {
  const std::uint64_t highest = std::exchange(highest_beat_, std::max(highest_beat_, beat));
  if (asked.history != history_) return;
  const bool read = std::exchange(beat_read_, true);
  const bool leaps = read && beat > beat_ + kMostMissed && beat <= highest;
  if (beat >= asked.beat && !leaps) {
    beat_ = std::max(beat_, beat);
    return;
  }
  beat_ = beat;
  const std::uint64_t from = leaps ? highest : asked.beat;
  set_back(
      fmt::format("the agent that leads had counted to {}, and the store knows {}", from, beat));
}

void SeenRevision::set_back(const std::string& what) {
  ++history_;
  const std::string told = what + ": it was emptied, or an older copy was put in its place";
  for (const auto& call : set_back_) call(told);
}

}  // namespace wardmote::store
