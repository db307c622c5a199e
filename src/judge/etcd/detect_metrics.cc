// What the members' metrics show: disks that are slow, and proposals that wait or fail.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "judge/finding.h"

namespace wardmote::judge::etcd {
namespace {

using enum Code;

/// The two limits are those of etcd's FAQ (etcd.io, "failed to send out heartbeat on time", "apply
/// entries took too long"). A disk that was slow is called so until it is clearly faster; the lower
/// limits are bounds of etcd's buckets, so that no interpolation decides.
struct Limit {
  std::string_view metric;
  std::string_view what;
  double slow;  ///< seconds; above it
  double well;  ///< seconds; up to it
};
constexpr Limit kWal{"etcd_disk_wal_fsync_duration_seconds", "an fsync of its log", 0.010, 0.008};
constexpr Limit kCommit{"etcd_disk_backend_commit_duration_seconds", "a commit of its database",
                        0.025, 0.016};

/// etcd's page on metrics expects a few thousands at most, even under high load, and at 5,000 etcd
/// refuses requests (server/etcdserver/v3_server.go, maxGapBetweenApplyAndCommitIndex).
constexpr std::uint64_t kBehind = 1000;
constexpr std::uint64_t kPending = 100;
constexpr std::uint64_t kFailed = 5;

std::string seconds(Duration span) {
  return fmt::format("{} s", to_ms(span) / 1000);
}

/// Sets `slow`; without a percentile it stays as it was.
bool note_slow(const std::optional<Percentile>& measured, const Limit& limit, bool& slow) {
  if (measured) slow = measured->p99 > (slow ? limit.well : limit.slow);
  return measured && slow;
}

void describe(const Percentile& measured, const Limit& limit, const MemberView& view,
              std::vector<std::string>& slow, std::vector<Evidence>& evidence) {
  slow.push_back(fmt::format("{} takes {:.1f} ms", limit.what, measured.p99 * 1000));
  evidence.push_back(
      {view.name, fmt::format("{}: 99 % within {:.4f} s, of {} in {}", limit.metric, measured.p99,
                              measured.count, seconds(measured.span))});
}

Condition about(Code code, const MemberView& view) {
  Condition found = condition(code, view.name, view.begun);
  found.finding.subjects = {view.name, id_text(view.facts->member_id)};
  return found;
}

void add_slow_disk(const MemberView& view, const MemberLoad& load, MemberMemory& memory,
                   Conditions& out) {
  const bool wal = note_slow(load.wal_fsync, kWal, memory.wal_slow);
  const bool commit = note_slow(load.backend_commit, kCommit, memory.commit_slow);
  if (!wal && !commit) {
    const bool unproven = memory.wal_slow || memory.commit_slow;
    if (unproven) out.push_back(uncertain(kEtcdSlowDisk, view.name));
    return;
  }
  Condition found = about(kEtcdSlowDisk, view);
  std::vector<std::string> slow;
  if (wal) describe(*load.wal_fsync, kWal, view, slow, found.finding.evidence);
  if (commit) describe(*load.backend_commit, kCommit, view, slow, found.finding.evidence);
  found.finding.summary = fmt::format("the disk of {} is slow: one in a hundred times {} or longer",
                                      view.name, fmt::join(slow, ", and "));
  out.push_back(std::move(found));
}

void add_lag(const MemberView& view, const MemberLoad& load, Conditions& out) {
  const bool waits = load.least_pending >= kPending;
  const bool behind = load.least_behind >= kBehind;
  if (!waits && !behind) {
    const bool unproven = !load.least_pending && !load.least_behind;
    if (unproven) out.push_back(uncertain(kEtcdProposalLag, view.name));
    return;
  }
  Condition found = about(kEtcdProposalLag, view);
  std::vector<std::string> said;
  if (waits) {
    said.push_back(fmt::format("{} proposals wait in it", *load.pending));
    found.finding.evidence.push_back(
        {view.name, fmt::format("etcd_server_proposals_pending: {}; {} or more for {}",
                                *load.pending, *load.least_pending, seconds(load.span))});
  }
  if (behind) {
    said.push_back(fmt::format("it has not applied {} that are committed", *load.behind));
    found.finding.evidence.push_back(
        {view.name, fmt::format("etcd_server_proposals_committed_total - "
                                "etcd_server_proposals_applied_total: {}; {} or more for {}",
                                *load.behind, *load.least_behind, seconds(load.span))});
  }
  found.finding.summary =
      fmt::format("{} is behind with its proposals: {}", view.name, fmt::join(said, ", and "));
  out.push_back(std::move(found));
}

void add_failing(const MemberView& view, const MemberLoad& load, Conditions& out) {
  if (!load.failed) {
    out.push_back(uncertain(kEtcdProposalsFail, view.name));
    return;
  }
  if (*load.failed < kFailed) return;
  Condition found = about(kEtcdProposalsFail, view);
  found.finding.summary =
      fmt::format("{} proposals failed at {} in {}", *load.failed, view.name, seconds(load.span));
  found.finding.evidence = {{view.name, fmt::format("etcd_server_proposals_failed_total: +{} in {}",
                                                    *load.failed, seconds(load.span))}};
  out.push_back(std::move(found));
}

void add_unread(const MemberView& view, const MetricsReport& report, Conditions& out) {
  if (report.metrics) return;
  Condition found = about(kEtcdMetricsUnread, view);
  found.finding.summary = fmt::format(
      "the metrics of {} cannot be read, so nobody knows whether its disk is slow", view.name);
  found.finding.evidence = {{view.name, report.reason.text}};
  out.push_back(std::move(found));
}

}  // namespace

Conditions detect_load(std::span<const MemberView> views, Memory& memory,
                       std::vector<std::optional<MemberLoad>>& loads) {
  Conditions found;
  loads.assign(views.size(), std::nullopt);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const MemberView& view = views[i];
    if (!view.facts) {
      for (const Code code :
           {kEtcdSlowDisk, kEtcdProposalLag, kEtcdProposalsFail, kEtcdMetricsUnread})
        found.push_back(uncertain(code, view.name));
      continue;
    }
    if (!view.facts->metrics) continue;  // nobody asks for them
    MemberMemory& known = memory.members[view.name];
    known.window.note(*view.facts->metrics);
    const MemberLoad& load = loads[i].emplace(known.window.load());
    add_slow_disk(view, load, known, found);
    add_lag(view, load, found);
    add_failing(view, load, found);
    add_unread(view, *view.facts->metrics, found);
  }
  return found;
}

}  // namespace wardmote::judge::etcd
