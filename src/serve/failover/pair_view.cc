#include "serve/failover/pair_view.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/verdict.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::failover::Copy;
using judge::failover::Member;
using judge::failover::PairReport;

namespace {

json::object member_json(const Member& member, const PairReport& report) {
  json::object node{{"name", escape_control(member.name)}};
  node["nb"] = judge::failover::to_string(member.nb);
  node["sb"] = judge::failover::to_string(member.sb);
  node["epoch"] = member.position.epoch;
  const auto lag = judge::failover::lag_of(member, report.record);
  node["lag"] = lag ? json::value(*lag) : json::value(nullptr);
  node["empty"] = member.position.empty;
  node["mode"] = member.observes ? "observe" : "act";
  node["nofailover"] = member.nofailover;
  node["priority"] = member.priority;
  node["edited_by"] = text_or_null(member.edited_by);
  node["unfit"] = text_or_null(member.unfit);
  const auto candidacy = judge::failover::could_take_over(member, report);
  node["take_over"] = {{"verdict", judge::failover::to_string(candidacy.verdict)},
                       {"why", escape_control(candidacy.reason)}};
  return node;
}

json::object edited_json(const judge::failover::EditedSettings& edited) {
  json::object settings{{"name", edited.node}};
  settings["nofailover"] =
      edited.nofailover ? json::value(*edited.nofailover) : json::value(nullptr);
  settings["priority"] = edited.priority ? json::value(*edited.priority) : json::value(nullptr);
  settings["edited_by"] = text_or_null(edited.by);
  return settings;
}

}  // namespace

json::object pair_json(const PairReport& report) {
  json::object pair;
  pair["pair"] = report.name;
  pair["node"] = report.node;
  pair["mode"] = report.acts ? "act" : "observe";
  pair["role"] = report.serves ? "primary" : "replica";
  pair["address"] = report.address;
  pair["has_address"] = report.has_address;
  pair["active"] = text_or_null(report.active);
  pair["epoch"] = report.record.epoch;
  pair["leader"] = text_or_null(report.leader);
  pair["lock"] = judge::failover::to_string(report.lock);
  pair["next"] = json::object{{"duty", judge::failover::to_string(report.next.duty)},
                              {"why", report.next.reason}};
  pair["candidate"] =
      json::object{{"verdict", judge::failover::to_string(report.candidacy.verdict)},
                   {"why", escape_control(report.candidacy.reason)}};
  json::array& members = pair["members"].emplace_array();
  // A pair that has no manager yet knows nothing of this node either.
  if (!report.own.name.empty()) members.push_back(member_json(report.own, report));
  for (const Member& member : report.members) members.push_back(member_json(member, report));
  pair["missing"] = json::array(report.missing.begin(), report.missing.end());
  json::array& edited = pair["edited"].emplace_array();
  for (const judge::failover::EditedSettings& one : report.edited)
    edited.push_back(edited_json(one));
  pair["paused_by"] = text_or_null(report.paused_by);
  pair["order"] = text_or_null(report.order);
  pair["scheduled_at"] =
      report.scheduled_at ? json::value(format_utc(*report.scheduled_at)) : json::value(nullptr);
  pair["scheduled"] = text_or_null(report.scheduled);
  json::array& history = pair["history"].emplace_array();
  for (const judge::failover::PastPromotion& past : report.history) {
    history.push_back(json::object{{"epoch", past.epoch},
                                   {"node", past.node},
                                   {"at", format_utc(past.at)},
                                   {"why", past.reason}});
  }
  pair["age_ms"] = report.age ? json::value(to_ms(*report.age)) : json::value(nullptr);
  pair["complaints"] = json::array(report.complaints.begin(), report.complaints.end());
  return pair;
}

std::string pair_node(std::string_view pair) {
  return fmt::format("failover:{}", pair);
}

std::string PairView::owner() const {
  return pair_node(id.name);
}

std::string PairView::component_of(const judge::Finding&) const {
  return owner();
}

json::object PairView::names() const {
  return {{"pair", text(id.name, kNameCap)}};
}

json::object PairView::to_json(Moment at) const {
  json::object object = pair_json(report);
  object["at"] = utc(judged, at);
  object["verdict"] = word(to_string(assessment.verdict));
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

void PairView::measure(Exposition& out, Moment) const {
  const auto row = [](std::string_view name) { return row_of(kPairMetrics, name); };
  const std::string_view name[] = {id.name};
  out.add(row("wardmote_failover_verdict"), name, judge::exit_code_of(assessment.verdict));
  out.add(row("wardmote_failover_serves"), name, report.serves ? 1 : 0);
  out.add(row("wardmote_failover_epoch"), name, static_cast<double>(report.record.epoch));
  std::vector<Member> all;
  if (!report.own.name.empty()) all.push_back(report.own);
  all.insert(all.end(), report.members.begin(), report.members.end());
  for (const Member& member : all) {
    const std::string_view labels[] = {id.name, member.name};
    const bool follows = member.nb == Copy::kFollowing && member.sb == Copy::kFollowing;
    out.add(row("wardmote_failover_active"), labels, member.name == report.active ? 1 : 0);
    out.add(row("wardmote_failover_following"), labels, follows ? 1 : 0);
    if (const auto lag = judge::failover::lag_of(member, report.record))
      out.add(row("wardmote_failover_behind_commits"), labels, static_cast<double>(*lag));
  }
  std::map<std::pair<judge::Code, judge::Severity>, int> standing;
  for (const judge::Finding& finding : assessment.findings)
    ++standing[{finding.code, finding.severity}];
  for (const auto& [kind, count] : standing) {
    const std::string_view labels[] = {id.name, to_string(kind.first), to_string(kind.second)};
    out.add(row("wardmote_failover_finding"), labels, count);
  }
}

}  // namespace wardmote::serve
