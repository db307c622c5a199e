#include "serve/etcd/etcd_view.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/verdict.h"
#include "serve/etcd/member_json.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

json::object member_json(const judge::etcd::MemberView& member,
                         const judge::raft::MemberVerdict& verdict,
                         const std::optional<judge::etcd::MemberLoad>& load) {
  json::object object;
  object["member"] = text(member.name);
  object["outcome"] = to_string(verdict.outcome);
  object["reason"] = nullptr;
  if (verdict.reason.code != judge::ReasonCode::kNone)
    object["reason"] = to_string(verdict.reason.code);
  object["detail"] = text_or_null(verdict.reason.text);
  object["facts"] = nullptr;
  if (member.facts) object["facts"] = etcd_member_json(*member.facts);
  object["metrics"] = nullptr;
  if (load && member.facts && member.facts->metrics)
    object["metrics"] = etcd_metrics_json(*member.facts->metrics, *load);
  return object;
}

}  // namespace

std::string etcd_node(std::string_view cluster) {
  return fmt::format("etcd:{}", cluster);
}

std::string EtcdView::owner() const {
  return etcd_node(id.name);
}

std::string EtcdView::component_of(const judge::Finding&) const {
  return owner();
}

json::object EtcdView::names() const {
  return {{"etcd", text(id.name, kNameCap)}};
}

json::object EtcdView::to_json(Moment at) const {
  json::object object;
  object["etcd"] = text(id.name, kNameCap);
  object["at"] = utc(judged, at);
  object["verdict"] = word(to_string(assessment.verdict));
  object["quorum"] = json::object{{"voters", assessment.quorum.voters},
                                  {"needed", assessment.quorum.needed},
                                  {"live", assessment.quorum.live}};
  object["leader"] = nullptr;
  if (assessment.leader) object["leader"] = text(members.at(*assessment.leader).name);
  json::array all;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool judged_too = i < assessment.members.size();
    all.emplace_back(member_json(members[i],
                                 judged_too
                                     ? assessment.members[i]
                                     : judge::raft::MemberVerdict{judge::Outcome::kUnknown, {}},
                                 load_of(i)));
  }
  object["members"] = std::move(all);
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

std::optional<judge::etcd::MemberLoad> EtcdView::load_of(std::size_t member) const {
  return member < assessment.loads.size() ? assessment.loads[member] : std::nullopt;
}

void EtcdView::measure_metrics(Exposition& out, std::size_t member) const {
  const auto row = [](std::string_view name) { return row_of(kEtcdMetrics, name); };
  const std::optional<judge::etcd::MemberLoad> load = load_of(member);
  const judge::etcd::MemberView& view = members[member];
  if (!load || !view.facts || !view.facts->metrics) return;
  const std::string_view labels[] = {id.name, view.name};
  out.add(row("wardmote_etcd_member_metrics_up"), labels, view.facts->metrics->metrics ? 1 : 0);
  if (load->wal_fsync)
    out.add(row("wardmote_etcd_member_wal_fsync_p99_seconds"), labels, load->wal_fsync->p99);
  if (load->backend_commit)
    out.add(row("wardmote_etcd_member_backend_commit_p99_seconds"), labels,
            load->backend_commit->p99);
  if (load->pending)
    out.add(row("wardmote_etcd_member_proposals_pending"), labels,
            static_cast<double>(*load->pending));
  if (load->behind)
    out.add(row("wardmote_etcd_member_proposals_behind"), labels,
            static_cast<double>(*load->behind));
}

void EtcdView::measure(Exposition& out, Moment) const {
  const auto row = [](std::string_view name) { return row_of(kEtcdMetrics, name); };
  const std::string_view name[] = {id.name};
  out.add(row("wardmote_etcd_verdict"), name, exit_code_of(outcome_of(assessment.verdict)));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const judge::etcd::MemberView& member = members[i];
    measure_metrics(out, i);
    const std::string_view labels[] = {id.name, member.name};
    out.add(row("wardmote_etcd_member_up"), labels, member.facts ? 1 : 0);
    if (!member.facts) continue;
    const judge::etcd::MemberFacts& facts = *member.facts;
    const bool leads = facts.leader != 0 && facts.leader == facts.member_id;
    out.add(row("wardmote_etcd_member_leader"), labels, leads ? 1 : 0);
    out.add(row("wardmote_etcd_member_term"), labels, static_cast<double>(facts.term));
    out.add(row("wardmote_etcd_member_index"), labels, static_cast<double>(facts.index));
    out.add(row("wardmote_etcd_member_db_bytes"), labels, static_cast<double>(facts.db_bytes));
    out.add(row("wardmote_etcd_member_db_in_use_bytes"), labels,
            static_cast<double>(facts.db_bytes_in_use));
  }
  std::map<std::pair<judge::Code, judge::Severity>, int> standing;
  for (const judge::Finding& finding : assessment.findings)
    ++standing[{finding.code, finding.severity}];
  for (const auto& [kind, count] : standing) {
    const std::string_view labels[] = {id.name, to_string(kind.first), to_string(kind.second)};
    out.add(row("wardmote_etcd_finding"), labels, count);
  }
}

}  // namespace wardmote::serve
