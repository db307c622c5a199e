#pragma once

#include <boost/json/object.hpp>

#include "judge/etcd/member_facts.h"

namespace wardmote::serve {

/// What a member says: {"name", "member_id", "cluster_id", "version", "leader", "term", "index",
/// "applied", "learner", "db_bytes", "db_bytes_in_use", "quota_bytes", "alarms": [{"member_id",
/// "alarm"}], "errors", "members": [{"id", "name", "peer_urls", "learner"}]}. Ids are as etcdctl
/// writes them.
boost::json::object etcd_member_json(const judge::etcd::MemberFacts& member);

}  // namespace wardmote::serve
