#include "agent/ovn/cluster_board.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/board.h"
#include "agent/ovn/nb_sb_pairing.h"
#include "base/check.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "incidents/hold.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "serve/raft/cluster_view.h"
#include "serve/thing_view.h"

namespace wardmote::agent {
namespace {

using incidents::Round;
using judge::Reason;
using judge::ReasonCode;
using judge::Verdict;
using judge::raft::Assessment;
using judge::raft::MemberId;
using judge::raft::Opinion;
using judge::raft::Source;

serve::ClusterView begin(const config::Cluster& cluster, TimePoint now) {
  serve::ClusterView view(cluster.name);
  view.judged = now;
  for (const config::Member& member : cluster.members) {
    Opinion opinion;
    opinion.member = member.name;
    view.opinions.push_back(std::move(opinion));
  }
  view.counters.members.resize(cluster.members.size());
  return view;
}

/// Why the cluster's check stands as it does: its worst finding, or why nobody speaks.
Reason reason_of(const serve::ClusterView& cluster) {
  const Assessment& assessment = cluster.assessment;
  if (assessment.verdict == Verdict::kOk) return {};
  if (!assessment.findings.empty()) {
    const judge::Finding& worst = assessment.findings.front();
    return {ReasonCode::kState, std::string(to_string(worst.code)) + ": " + worst.summary};
  }
  // That somebody could not be asked is told before an answer that could not be read, which counts
  // like a failure.
  Reason first{ReasonCode::kNotProbed, {}};
  for (const Opinion& opinion : cluster.opinions) {
    const Reason& silence = opinion.silence();
    if (silence.code == ReasonCode::kNone) continue;
    const bool readable = meaning_of(silence.code) != judge::Meaning::kUnreadable;
    if (readable) return silence;
    if (first.code == ReasonCode::kNotProbed) first = silence;
  }
  return first;
}

bool asked_in_full(const Opinion& opinion) {
  return !failed(opinion.status_source) && !failed(opinion.local_source);
}

Round round_of(const serve::ClusterView& cluster) {
  const bool clean = cluster.assessment.verdict == Verdict::kOk &&
                     cluster.assessment.findings.empty() && cluster.assessment.observed.empty() &&
                     std::ranges::all_of(cluster.opinions, asked_in_full);
  return clean ? Round::kClean : Round::kOther;
}

MemberId leader_of(const serve::ClusterView& cluster) {
  const auto& leader = cluster.assessment.leader;
  return leader ? cluster.opinions[*leader].server_id() : MemberId{};
}

std::uint64_t highest_term(const std::vector<Opinion>& opinions) {
  std::uint64_t highest = 0;
  for (const Opinion& opinion : opinions) {
    if (opinion.status) highest = std::max(highest, opinion.status->term);
  }
  return highest;
}

void tell_members(incidents::ChangeFeed& feed, const serve::ClusterView& now,
                  const serve::ClusterView& before) {
  const auto& after = now.assessment.members;
  const auto& earlier = before.assessment.members;
  for (std::size_t i = 0; i < after.size() && i < now.opinions.size(); ++i) {
    const bool known = i < earlier.size();
    const bool unchanged = known && earlier[i].outcome == after[i].outcome &&
                           earlier[i].reason.code == after[i].reason.code;
    if (unchanged) continue;
    std::optional<judge::Outcome> from;
    if (known) from = earlier[i].outcome;
    feed.tell(now.id, judge::MemberChanged{now.opinions[i].member, from, after[i].outcome,
                                           after[i].reason});
  }
}

/// The place of each configured member among the opinions; nothing: it is new.
std::vector<std::optional<std::size_t>> places_in(const serve::ClusterView& view,
                                                  const config::Cluster& cluster) {
  std::vector<std::optional<std::size_t>> places;
  for (const config::Member& member : cluster.members) {
    const auto found = std::ranges::find(view.opinions, member.name, &Opinion::member);
    places.emplace_back();
    if (found != view.opinions.end())
      places.back() = static_cast<std::size_t>(found - view.opinions.begin());
  }
  return places;
}

/// What stands by member, for the members that there are now; what is new begins with `fresh`.
template <class Item, class Fresh>
std::vector<Item> rearranged(const std::vector<Item>& items,
                             const std::vector<std::optional<std::size_t>>& places, Fresh fresh) {
  std::vector<Item> next;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool known = places[i] && *places[i] < items.size();
    next.push_back(known ? items[*places[i]] : fresh(i));
  }
  return next;
}

/// The cluster as judged last, with the members that it has now.
serve::ClusterView with_members(const serve::ClusterView& shown,
                                const serve::ClusterCounters& counted,
                                const config::Cluster& cluster) {
  const auto places = places_in(shown, cluster);
  serve::ClusterView view = shown;
  view.opinions = rearranged(shown.opinions, places, [&](std::size_t i) {
    Opinion opinion;
    opinion.member = cluster.members[i].name;
    return opinion;
  });
  Assessment& assessment = view.assessment;
  const Assessment& before = shown.assessment;
  assessment.members = rearranged(before.members, places, [](std::size_t) {
    return judge::raft::MemberVerdict{judge::Outcome::kUnknown, {ReasonCode::kNotProbed, {}}};
  });
  assessment.ids = rearranged(before.ids, places, [](std::size_t) { return MemberId(); });
  assessment.leader.reset();
  if (before.leader) {
    const auto leader = std::ranges::find(places, before.leader);
    if (leader != places.end())
      assessment.leader = static_cast<std::size_t>(leader - places.begin());
  }
  view.counters = counted;
  view.counters.members =
      rearranged(counted.members, places, [](std::size_t) { return serve::MemberCounters(); });
  return view;
}

}  // namespace

bool failed(const Source& source) noexcept {
  return !source.answered() && source.reason.code != ReasonCode::kNotProbed;
}

void ClusterBoard::reload(const config::Config& config, const config::ReloadPlan& plan,
                          TimePoint now) {
  auto before = std::exchange(clusters_, {});
  auto pairing = std::exchange(pairing_, NbSbPairing(config.clusters));
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  for (std::size_t i = 0; i < config.clusters.size(); ++i) {
    const config::Cluster& cluster = config.clusters[i];
    const auto [action, was] = plan.clusters[i];
    const bool known = action != config::ReloadAction::kBegun;
    Entry entry = known ? std::move(before[was]) : Entry();
    if (known) pairing_.take_over(i, pairing, was);
    const auto view = std::make_shared<serve::ClusterView>(
        known ? with_members(*entry.shown, entry.counters, cluster) : begin(cluster, now));
    view->expectation = cluster.expectation;
    view->every = cluster.schedule.every;
    entry.counters = view->counters;
    hold_down(view->assessment.verdict, entry.hold.looked(holds_, cluster.name, Round::kPart));
    entry.shown = view;
    entry.check = static_cast<std::size_t>(
        std::ranges::find(config.checks, cluster.name, &config::Check::name) -
        config.checks.begin());
    shown.push_back(entry.shown);
    clusters_.push_back(std::move(entry));
  }
  board_.show(judge::ThingKind::kCluster, std::move(shown));
}

void ClusterBoard::member_observed(std::size_t cluster, std::size_t member, const Opinion& seen) {
  serve::MemberCounters& counters = clusters_[cluster].counters.members[member];
  counters.looks.add(seen.ended - seen.begun);
  for (const Source* const source : {&seen.status_source, &seen.local_source}) {
    if (failed(*source)) ++counters.errors[source->reason.code];
  }
}

void ClusterBoard::cluster_judged(std::size_t cluster, std::vector<Opinion> opinions,
                                  Assessment assessment, TimePoint now, bool final_of_round) {
  Entry& entry = clusters_[cluster];
  const std::shared_ptr<const serve::ClusterView> before = entry.shown;
  check(opinions.size() == before->opinions.size(), "a cluster's members changed");
  if (const auto other = pairing_.companion_of(cluster)) {
    pairing_.compare(cluster, {before->id.name, opinions}, assessment, *clusters_[*other].shown,
                     now);
  }
  const auto view = std::make_shared<serve::ClusterView>(before->id.name);
  view->expectation = before->expectation;
  view->every = before->every;
  view->judged = now;
  view->opinions = std::move(opinions);
  view->assessment = std::move(assessment);
  count(entry, *view);
  if (final_of_round && !std::ranges::all_of(view->opinions, asked_in_full))
    ++entry.counters.collect_errors;
  view->counters = entry.counters;
  const auto held =
      entry.hold.looked(holds_, view->id.name, final_of_round ? round_of(*view) : Round::kPart);
  hold_down(view->assessment.verdict, held);
  entry.whole = entry.whole || final_of_round;
  // Those who were not heard yet may be the ones that fail.
  if (!entry.whole && view->assessment.verdict == Verdict::kOk)
    view->assessment.verdict = Verdict::kUnknown;
  const bool unseen = held && view->assessment.findings.empty();
  judge::Observation seen{.subject = view->id.name,
                          .outcome = outcome_of(view->assessment.verdict),
                          .reason = unseen ? held->reason : reason_of(*view),
                          .begun = std::ranges::max(view->opinions, {}, &Opinion::begun).begun,
                          .ended = now};
  if (board_.doubt(seen, view->assessment.observed)) view->assessment.verdict = Verdict::kUnknown;
  entry.shown = view;
  board_.judged(view, now);
  tell_members(feed_, *view, *before);
  if (view->assessment.verdict != before->assessment.verdict) {
    feed_.tell(view->id,
               judge::VerdictChanged{before->assessment.verdict, view->assessment.verdict});
  }
  if (!is_news(entry, view->assessment.verdict, final_of_round)) return;
  board_.check_observed(entry.check, seen, now);
}

/// Whether its check hears of a judgement. Bad news does not wait for the slowest member: a finding
/// is certain when it is made. That it is over is believed only when everybody has answered.
bool ClusterBoard::is_news(Entry& entry, Verdict verdict, bool final_of_round) {
  const bool bad = outcome_of(verdict) == judge::Outcome::kFail;
  const bool told = entry.told;
  entry.told = !final_of_round && (told || bad);
  return final_of_round ? !(told && bad) : bad && !told;
}

void ClusterBoard::count(Entry& entry, const serve::ClusterView& view) {
  ++entry.counters.judgements;
  const MemberId leader = leader_of(view);
  if (leader.known()) {
    const bool another = entry.leader.known() && !compatible(entry.leader, leader);
    if (another) ++entry.counters.leader_transitions;
    entry.leader = leader;
  }
  const std::uint64_t term = highest_term(view.opinions);
  if (entry.term != 0 && term > entry.term) entry.counters.elections += term - entry.term;
  entry.term = std::max(entry.term, term);
}

}  // namespace wardmote::agent
