#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// A follower that catches up within this time, or two rounds if that is longer, has no finding.
constexpr Duration kSoon = std::chrono::seconds(10);
/// Entries in the log. OVSDB compacts by itself after some minutes, once the log has grown enough.
constexpr std::uint64_t kLongLog = 100'000;

/// When the follower will have caught up at the speed of the last rounds; nothing when it does not.
std::optional<Duration> time_to_catch_up(const Follower& follower, Follower::Sample now) {
  const Duration time = now.at - follower.older.at;
  if (now.lag >= follower.older.lag || time <= Duration::zero()) return std::nullopt;
  const auto gained = static_cast<double>(follower.older.lag - now.lag);
  const double seconds =
      std::chrono::duration<double>(time).count() * static_cast<double>(now.lag) / gained;
  constexpr double kLongest = 1e6;
  if (seconds > kLongest) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::string describe_lag(const ListedServer& listed, const Member& leader, std::uint64_t lag,
                         Duration behind, const std::optional<Duration>& rest) {
  const std::string who = listed.reporter ? label(*listed.reporter) : label(listed);
  std::string text = fmt::format("{} is {} entries and more than {} behind the leader {}", who, lag,
                                 format_duration(behind), label(leader));
  if (rest) return text + fmt::format(", and needs {} more to catch up", format_duration(*rest));
  return text + ", and does not catch up";
}

}  // namespace

void detect_log_rolled_back(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const Track* const track = snapshot.history->of(member);
    if (!track || !track->rolled_back || track->id != member.id) continue;
    const RolledBack& back = *track->rolled_back;
    Condition found = condition(kRaftLogRolledBack, member.name(), member.opinion->begun);
    found.since = back.at;
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("the log of {} ended at {}, and it had committed {}: its disk was put back",
                    label(member), back.end, back.committed);
    found.finding.evidence = {
        {member.name(),
         fmt::format("committed up to {}, then a log that ends at {}", back.committed, back.end)}};
    if (member.status())
      found.finding.evidence.push_back(testify(member, {Line::kTerm, Line::kLog}));
    out.push_back(std::move(found));
  }
}

void detect_log_lag(const ClusterSnapshot& snapshot, Conditions& out) {
  const std::optional<std::uint64_t> end = end_of_log(snapshot);
  if (!end) return;
  const Member& leader = *snapshot.leader;
  for (const ListedServer& listed : snapshot.servers) {
    const std::optional<std::uint64_t> has = acknowledged(snapshot, listed);
    const bool follows = listed.voter && listed.life == Life::kLive && listed.reporter != &leader;
    if (!follows || !has || *has >= *end) continue;
    const std::optional<TimePoint> passed = snapshot.history->passed(*has);
    const Follower* const follower = snapshot.history->of(listed);
    if (!passed || !follower) continue;
    const TimePoint shown = leader.opinion->begun;
    const Duration behind = shown - *passed;
    if (behind < snapshot.round()) continue;
    const std::uint64_t lag = *end - *has;
    const std::optional<Duration> rest = time_to_catch_up(*follower, {shown, lag, *has});
    if (rest && *rest <= std::max<Duration>(kSoon, 2 * snapshot.round())) continue;
    const std::string key = listed.reporter ? listed.reporter->name()
                                            : fmt::format("{}@{}", key_of(listed), listed.address);
    Condition found = condition(kRaftLogLag, key, shown);
    found.finding.subjects = names(listed);
    found.finding.summary = describe_lag(listed, leader, lag, behind, rest);
    found.finding.evidence = {testify(leader, {Line::kRole, Line::kLog})};
    if (listed.at_leader)
      found.finding.evidence.push_back(testify(leader, *listed.at_leader));
    else if (listed.reporter)
      found.finding.evidence.push_back(testify(*listed.reporter, {Line::kLog}));
    out.push_back(std::move(found));
  }
}

void detect_apply_stall(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || member.failed || !member.status()) continue;
    const Status& status = *member.status();
    // Uncommitted entries cannot be applied, and they are counted as unapplied too.
    if (status.unapplied <= status.uncommitted) continue;
    // The index is in the key, so that progress begins a new condition.
    Condition found =
        condition(kRaftApplyStall, fmt::format("{}@{}", member.name(), status.applied_index()),
                  member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} does not apply {} committed entries after index {}", label(member),
                    status.unapplied - status.uncommitted, status.applied_index());
    found.finding.evidence = {
        testify(member, {Line::kRole, Line::kLog, Line::kUncommitted, Line::kUnapplied})};
    out.push_back(std::move(found));
  }
}

void detect_log_growth(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || member.failed || !member.status()) continue;
    const Status& status = *member.status();
    if (status.log_next <= status.log_start || status.log_next - status.log_start < kLongLog)
      continue;
    // The first index is in the key: it moves with each compaction.
    Condition found =
        condition(kRaftLogGrowth, fmt::format("{}@{}", member.name(), status.log_start),
                  member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("the log of {} has {} entries and is not compacted",
                                        label(member), status.log_next - status.log_start);
    found.finding.evidence = {testify(member, {Line::kLog})};
    if (!member.opinion->control_command.empty() && !member.dialect().compact.empty()) {
      found.finding.advice =
          Advice{.text = fmt::format("Compact the database of {}.", label(member)),
                 .command = member.opinion->control_command,
                 .run_on = member.name()};
      found.finding.advice->command.emplace_back(member.dialect().compact);
      found.finding.advice->command.push_back(snapshot.expectation->database);
    }
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
