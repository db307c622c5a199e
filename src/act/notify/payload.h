#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
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

/// One line: `CRITICAL cluster:nb RAFT_NO_QUORUM: no quorum (and 2 more)`.
std::string notice_title(const judge::notify::Notice& notice);

/// Several lines for people: one for each incident, most important first.
std::string notice_text(const judge::notify::Notice& notice, const store::ClockPair& clock);

/// Replaces the `{{field}}`s of `text` by values of notice_json(): a text without its quotes and
/// escaped for JSON, any other value as JSON; `{{labels.code}}` is a label.
std::string fill_template(std::string_view text, const boost::json::object& notice);
/// Whether every `{{field}}` is known; kInvalid names the first unknown one.
Result<void> check_template(std::string_view text);

}  // namespace wardmote::act::notify
