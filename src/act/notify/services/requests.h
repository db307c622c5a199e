#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "act/notify/services/service.h"
#include "judge/notify/notice.h"
#include "runtime/http_client.h"

namespace wardmote::act::notify {

// One function for each service: see docs/notifications.md for what each gets.
std::vector<ServiceCall> slack_calls(const ServiceNotice& given);
std::vector<ServiceCall> teams_calls(const ServiceNotice& given);
std::vector<ServiceCall> pagerduty_calls(const ServiceNotice& given);
std::vector<ServiceCall> opsgenie_calls(const ServiceNotice& given);
std::vector<ServiceCall> ntfy_calls(const ServiceNotice& given);
std::vector<ServiceCall> gotify_calls(const ServiceNotice& given);
std::vector<ServiceCall> telegram_calls(const ServiceNotice& given);
std::vector<ServiceCall> matrix_calls(const ServiceNotice& given);

/// A request with a JSON body to a server that `options` trusts.
runtime::HttpCall json_call(std::string url, const boost::json::object& body,
                            const ServiceOptions& options);

/// What a message for people says below its title: the template of the receiver, else the
/// incidents.
std::string message_of(const ServiceNotice& given);

/// `text` in at most `most` bytes, cut between characters; `…` shows that something is missing.
std::string cut(std::string_view text, std::size_t most);

/// The name under which a service knows an incident from its beginning to its end: the same over
/// restarts of the agent, at most 255 bytes, and never that of another agent's incident.
std::string incident_key(const judge::notify::NoticeItem& item);

/// `text` as one segment of a path or one value of a query (RFC 3986).
std::string percent_encoded(std::string_view text);

/// How a message shall look and sound.
enum class Urgency : std::uint8_t { kCritical, kWarning, kInfo, kOver };
Urgency urgency_of(const judge::notify::Notice& notice);

}  // namespace wardmote::act::notify
