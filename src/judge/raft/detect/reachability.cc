#include <utility>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

void add_ways(const Member& member, Finding& finding) {
  for (const Source* source : {&member.opinion->status_source, &member.opinion->local_source}) {
    if (source->reason.code != ReasonCode::kNotProbed) {
      finding.evidence.push_back({member.name(), describe(source->reason)});
    }
  }
}

void add_peers(const Picture& picture, const Member& member, Finding& finding) {
  if (!member.seat) return;
  for (Evidence& evidence : testify(picture, *member.seat))
    finding.evidence.push_back(std::move(evidence));
}

}  // namespace

void detect_member_down(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    const bool failed = member.takes_part() && member.failed && !member.claims_to_lead();
    if (member.presence != Presence::kDown && !failed) continue;
    Condition found = condition(kRaftMemberDown, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    if (failed) {
      found.finding.summary = fmt::format("{} stopped serving after an error", label(member));
      found.finding.evidence = {testify(member, {Line::kStatus, Line::kRole, Line::kTerm})};
    } else {
      found.finding.summary = fmt::format("{} does not run: {}", label(member),
                                          to_string(member.opinion->silence().code));
      add_ways(member, found.finding);
    }
    add_peers(picture, member, found.finding);
    out.push_back(std::move(found));
  }
}

void detect_member_hung(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    if (member.presence != Presence::kHung) continue;
    Condition found = condition(kRaftMemberHung, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} accepts connections and answers nothing", label(member));
    add_ways(member, found.finding);
    add_peers(picture, member, found.finding);
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
