#pragma once

#include <boost/json/object.hpp>

#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"

namespace wardmote::serve {

/// What a member says: {"name", "member_id", "cluster_id", "version", "leader", "term", "index",
/// "applied", "learner", "db_bytes", "db_bytes_in_use", "quota_bytes", "alarms": [{"member_id",
/// "alarm"}], "errors", "members": [{"id", "name", "peer_urls", "learner"}]}. Ids are as etcdctl
/// writes them.
boost::json::object etcd_member_json(const judge::etcd::MemberFacts& member);

/// What its metrics say: {"reason", "detail", "wal_fsync_p99_us", "backend_commit_p99_us",
/// "proposals_pending", "proposals_behind"}. With a reason they could not be read. A percentile is
/// null while too little was measured.
boost::json::object etcd_metrics_json(const judge::etcd::MetricsReport& report,
                                      const judge::etcd::MemberLoad& load);

}  // namespace wardmote::serve
