#include "serve/etcd/member_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "serve/json_values.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::etcd::id_text;

json::object etcd_member_json(const judge::etcd::MemberFacts& member) {
  json::object object{{"name", text_or_null(member.name)},
                      {"member_id", id_text(member.member_id)},
                      {"cluster_id", id_text(member.cluster_id)},
                      {"version", text_or_null(member.version)},
                      {"leader", nullptr},
                      {"term", member.term},
                      {"index", member.index},
                      {"applied", member.applied},
                      {"learner", member.learner},
                      {"db_bytes", member.db_bytes},
                      {"db_bytes_in_use", member.db_bytes_in_use},
                      {"quota_bytes", nullptr}};
  if (member.leader != 0) object["leader"] = id_text(member.leader);
  if (member.quota_bytes) object["quota_bytes"] = *member.quota_bytes;
  json::array alarms;
  for (const judge::etcd::Alarm& alarm : member.alarms) {
    alarms.emplace_back(
        json::object{{"member_id", id_text(alarm.member)}, {"alarm", escape_control(alarm.name)}});
  }
  object["alarms"] = std::move(alarms);
  json::array errors;
  for (const std::string& error : member.errors) errors.emplace_back(escape_control(error));
  object["errors"] = std::move(errors);
  json::array members;
  for (const judge::etcd::ListedMember& listed : member.members) {
    json::array urls;
    for (const std::string& url : listed.peer_urls) urls.emplace_back(escape_control(url));
    members.emplace_back(json::object{{"id", id_text(listed.id)},
                                      {"name", text_or_null(listed.name)},
                                      {"peer_urls", std::move(urls)},
                                      {"learner", listed.learner}});
  }
  object["members"] = std::move(members);
  return object;
}

json::object etcd_metrics_json(const judge::etcd::MetricsReport& report,
                               const judge::etcd::MemberLoad& load) {
  const auto microseconds = [](const std::optional<judge::etcd::Percentile>& of) {
    return of ? json::value(std::llround(of->p99 * 1e6)) : json::value(nullptr);
  };
  return {{"reason", code_or_null(report.reason)},
          {"detail", text_or_null(report.reason.text)},
          {"wal_fsync_p99_us", microseconds(load.wal_fsync)},
          {"backend_commit_p99_us", microseconds(load.backend_commit)},
          {"proposals_pending", number_or_null(load.pending)},
          {"proposals_behind", number_or_null(load.behind)}};
}

}  // namespace wardmote::serve
