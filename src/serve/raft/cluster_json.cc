#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/raft/cluster_view.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::raft::Link;
using judge::raft::MemberId;
using judge::raft::MemberVerdict;
using judge::raft::Opinion;
using judge::raft::Server;
using judge::raft::Status;

json::value id_or_null(const MemberId& id) {
  return id.known() ? json::value(word(to_string(id))) : json::value(nullptr);
}

json::value ms_or_null(const std::optional<judge::raft::Milliseconds>& time) {
  return time ? json::value(time->count()) : json::value(nullptr);
}

/// As cluster/status prints it.
json::string connection(const Link& link) {
  const std::string arrow = (link.outgoing ? "->" : "<-") + link.peer;
  return text(link.up ? arrow : "(" + arrow + ")", kNameCap);
}

json::object server(const Server& one) {
  json::object object;
  object["nickname"] = text(one.nickname, kNameCap);
  object["id"] = id_or_null(one.id);
  object["address"] = text_or_null(one.address);
  object["self"] = one.self;
  object["phase"] = text_or_null(to_string(one.phase));
  object["next_index"] = number_or_null(one.next_index);
  object["match_index"] = number_or_null(one.match_index);
  object["last_msg_ms"] = ms_or_null(one.last_message);
  return object;
}

void add_status(json::object& member, const Status& status) {
  member["address"] = text_or_null(status.address);
  member["role"] = word(to_string(status.role));
  member["term"] = status.term;
  member["leader"] = text(to_string(status.leader), kNameCap);
  member["vote"] = text(to_string(status.vote), kNameCap);
  member["log"] = json::array{status.log_start, status.log_next};
  member["uncommitted"] = status.uncommitted;
  member["unapplied"] = status.unapplied;
  member["status"] = word(to_string(status.standing));
  member["election_timer_ms"] = status.election_timer.count();
  member["connections"] =
      array_of(status.links, [](const Link& link) { return json::value(connection(link)); });
  member["servers"] =
      array_of(status.servers, [](const Server& one) { return json::value(server(one)); });
}

/// The keys of add_status(), for a member whose cluster/status is not known.
void add_no_status(json::object& member, const Opinion& opinion) {
  for (const std::string_view key : {"address", "role", "term", "leader", "vote", "log",
                                     "uncommitted", "unapplied", "status", "election_timer_ms"}) {
    member[key] = nullptr;
  }
  if (opinion.local && opinion.local->leader) member["role"] = "leader";
  member["connections"] = json::array();
  member["servers"] = json::array();
}

bool never_looked(const Opinion& opinion) {
  const auto not_probed = judge::ReasonCode::kNotProbed;
  return opinion.status_source.reason.code == not_probed &&
         opinion.local_source.reason.code == not_probed;
}

json::object member(const Opinion& opinion, const MemberVerdict& verdict, TimePoint now) {
  json::object object;
  object["name"] = text(opinion.member, kNameCap);
  object["server_id"] = id_or_null(opinion.server_id());
  object["cluster_id"] = id_or_null(opinion.cluster_id());
  object["address"] = nullptr;
  object["outcome"] = word(to_string(verdict.outcome));
  object["reason"] = code_or_null(verdict.reason);
  object["detail"] = text_or_null(verdict.reason.text);
  object["mode"] = word(to_string(opinion.mode));
  if (opinion.status) {
    add_status(object, *opinion.status);
  } else {
    add_no_status(object, opinion);
  }
  object["connected"] =
      opinion.local ? json::value(opinion.local->connected) : json::value(nullptr);
  object["index"] = opinion.local ? number_or_null(opinion.local->index) : json::value(nullptr);
  object["age_ms"] =
      never_looked(opinion) ? json::value(nullptr) : json::value(to_ms(now - opinion.ended));
  return object;
}

}  // namespace

json::object ClusterView::to_json(Moment at) const {
  json::object object;
  object["cluster"] = text(id.name, kNameCap);
  object["database"] = text(expectation.database, kNameCap);
  object["cluster_id"] = id_or_null(cluster_id_of(*this));
  object["at"] = utc(judged, at);
  object["verdict"] = word(to_string(assessment.verdict));
  object["leader"] = nullptr;
  if (assessment.leader) object["leader"] = text(opinions[*assessment.leader].member, kNameCap);
  json::object quorum;
  quorum["voters"] = assessment.quorum.voters;
  quorum["needed"] = assessment.quorum.needed;
  quorum["live"] = assessment.quorum.live;
  object["quorum"] = std::move(quorum);
  object["every_ms"] = to_ms(every);
  json::array members;
  for (std::size_t i = 0; i < opinions.size(); ++i) {
    const MemberVerdict not_judged{judge::Outcome::kUnknown, opinions[i].silence()};
    const bool known = i < assessment.members.size();
    json::object one = member(opinions[i], known ? assessment.members[i] : not_judged, at.now);
    const auto& counted = counters.members;
    one["looks"] = i < counted.size() ? counted[i].looks.total() : 0;
    members.push_back(std::move(one));
  }
  object["members"] = std::move(members);
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

}  // namespace wardmote::serve
