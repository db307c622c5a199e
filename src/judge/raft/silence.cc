#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

const RememberedServer* remembered(const Memory& memory, const ListedServer& listed) noexcept {
  for (const RememberedServer& remembered : memory.list()) {
    if (remembered.address == listed.address && compatible(remembered.id, listed.id))
      return &remembered;
  }
  return nullptr;
}

/// When anybody last heard it, by any age in any list with its id, or was answered by it.
std::optional<TimePoint> last_heard(const ClusterSnapshot& snapshot,
                                    const ListedServer& listed) noexcept {
  std::optional<TimePoint> latest;
  if (listed.seen_elsewhere != nullptr) latest = listed.seen_elsewhere->at;
  for (const Member& member : snapshot.members) {
    if (!member.status()) continue;
    for (const Server& line : member.status()->servers) {
      if (line.self || !line.last_message || !compatible(line.id, listed.id)) continue;
      const TimePoint at = member.opinion->begun - *line.last_message;
      latest = std::max(latest.value_or(at), at);
    }
  }
  return latest;
}

/// Whether the agent has probed often enough since `before` to say that the silence lasted.
bool watched(const ClusterSnapshot& snapshot, const RememberedServer& before) noexcept {
  return snapshot.shown - before.silent_seen <= snapshot.expectation->gone_after / 2;
}

void find_silence(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    const RememberedServer* const before = remembered(memory, listed);
    if (before) {
      listed.listed_since = before->listed_since;
    } else if (!memory.list().empty()) {
      listed.listed_since = snapshot.shown;
    }
    if (listed.shows_life() || !snapshot.leader_vouches || !listed.at_leader) continue;
    TimePoint since = snapshot.shown;
    if (before && before->silent_since && watched(snapshot, *before)) since = *before->silent_since;
    listed.silent_since = std::max(since, last_heard(snapshot, listed).value_or(since));
  }
}

/// Whether the leader's log has grown for two rounds without an acknowledgement of it.
bool stands_still(const ClusterSnapshot& snapshot, const History& history,
                  const ListedServer& listed) noexcept {
  const Member* const leader = snapshot.leader;
  const bool follows = leader && leader->status() && listed.at_leader && listed.reporter != leader;
  if (!follows || !listed.at_leader->match_index) return false;
  const std::uint64_t has = *listed.at_leader->match_index;
  const std::optional<TimePoint> passed = history.passed(has);
  const Follower* const follower = history.of(listed);
  if (!passed || !follower || leader->opinion->begun - *passed < 2 * snapshot.round()) return false;
  return follower->older.index == has &&
         leader->opinion->begun - follower->older.at >= snapshot.round();
}

}  // namespace

void fill_times(ClusterSnapshot& snapshot, const Memory& memory) {
  find_silence(snapshot, memory);
  for (ListedServer& listed : snapshot.servers) {
    listed.stalled = listed.life == Life::kLive && stands_still(snapshot, memory.history(), listed);
  }
}

}  // namespace wardmote::judge::raft
