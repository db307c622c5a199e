#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/time.h"
#include "judge/notify/notice.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

/// What webhooks, programs and templates are given. Stable; fields may be added:
/// {"version": 1, "key", "receiver", "group", "number", "repeats", "status": "open|resolved",
///  "severity", "title", "labels": {}, "left_out",
///  "incidents": [{"id", "revision", "kind": "opened|changed|ongoing|resolved|unwatched|brief",
///  "phase", "code", "severity", "root", "summary", "labels": {}, "names": [], "symptoms",
///  "flapping", "storm", "reopened", "merged_into"|null, "acknowledged_by"|null, "opened", "since",
///  "resolved"|null}]}
boost::json::object notice_json(const judge::notify::Notice& notice, const store::ClockPair& clock);

/// The main incident: the gravest open one, else the gravest.
const judge::notify::NoticeItem& foremost(const judge::notify::Notice& notice);

/// One line: `CRITICAL cluster:nb RAFT_NO_QUORUM: no quorum (and 2 more)`.
std::string notice_title(const judge::notify::Notice& notice);

/// Three lines about one incident of a notice, without the last line break.
std::string item_text(const judge::notify::NoticeItem& item, const store::ClockPair& clock);

/// Several lines for people: one for each incident, most important first.
std::string notice_text(const judge::notify::Notice& notice, const store::ClockPair& clock);

}  // namespace wardmote::act::notify
