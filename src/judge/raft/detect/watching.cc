#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/history.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// One round shows it; the finding stands for this long.
constexpr Duration kRewoundTold = std::chrono::seconds(60);

}  // namespace

void detect_monitor_blind(const ClusterSnapshot& snapshot, Conditions& out) {
  const bool all = std::ranges::all_of(
      snapshot.members, [](const Member& member) { return member.presence == Presence::kUnknown; });
  for (const Member& member : snapshot.members) {
    // It is not well because it was found dead: the end comes when that is a finding.
    if (member.presence == Presence::kDown || member.presence == Presence::kHung)
      out.push_back(uncertain(kMonitorBlind, member.name()));
    const Reason& silence = member.opinion->silence();
    // There was no probe yet.
    if (member.presence != Presence::kUnknown || silence.code == ReasonCode::kNotProbed) continue;
    Condition found = condition(kMonitorBlind, member.name(), member.opinion->begun);
    // The other members show what the cluster does.
    if (!all) found.finding.severity = Severity::kWarning;
    found.finding.subjects = names(member);
    found.finding.summary =
        member.heard
            ? fmt::format("{} is heard by others and not by this agent: {}", label(member),
                          to_string(silence.code))
            : fmt::format("nothing is known of {}: {}", label(member), to_string(silence.code));
    for (const Source* source : {&member.opinion->status_source, &member.opinion->local_source}) {
      if (source->reason.code != ReasonCode::kNotProbed)
        found.finding.evidence.push_back({member.name(), describe(source->reason)});
    }
    out.push_back(std::move(found));
  }
}

void detect_ages_rewound(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const Track* const track = snapshot.history->of(member);
    if (!member.comparable || !track || !track->rewound) continue;
    if (snapshot.now - *track->rewound > kRewoundTold) continue;
    Condition found = condition(kRaftAgesRewound, member.name(), *track->rewound);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} stood still for about {}: it was paused, or its clock was", label(member),
                    format_duration(track->rewound_by));
    found.finding.evidence = {
        {member.name(),
         fmt::format("its ages are {} ms younger than they can be", track->rewound_by.count())}};
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
