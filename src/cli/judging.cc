#include "cli/judging.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cstddef>
#include <utility>

#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/verdict.h"
#include "store/evidence.h"

namespace wardmote::cli {

namespace raft = judge::raft;

Judging::Judging(const store::EvidenceHead& head) {
  view_.id.name = head.cluster;
  view_.expectation = head.expectation;
  view_.every = head.every;
}

void Judging::take(store::EvidenceLook look) {
  view_.opinions = std::move(look.opinions);
  view_.counters.members.resize(view_.opinions.size());
  for (std::size_t i = 0; i < view_.opinions.size(); ++i)
    view_.counters.members[i].looks.add(view_.opinions[i].ended - view_.opinions[i].begun);
  view_.judged = look.judged;
  at_ = look.at;
  view_.assessment = raft::assess(view_.opinions, view_.expectation, memory_, view_.judged);
}

void Judging::finish() {
  raft::Assessment& last = view_.assessment;
  const bool unsettled = std::ranges::any_of(last.observed, [](const judge::Observed& seen) {
    return judge::info(seen.code).severity != judge::Severity::kInfo;
  });
  if (last.verdict == judge::Verdict::kOk && unsettled) last.verdict = judge::Verdict::kWarning;
}

boost::json::value Judging::result() const {
  return view_.to_json({view_.judged, at_});
}

}  // namespace wardmote::cli
