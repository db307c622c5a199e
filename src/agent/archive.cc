#include "agent/archive.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "base/format.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "store/history.h"

namespace wardmote::agent {
namespace {

/// The member that a change of a cluster is about.
std::string member_in(const std::string& data) {
  boost::system::error_code broken;
  const boost::json::value value = boost::json::parse(data, broken);
  const boost::json::object* const fields = value.if_object();
  const boost::json::value* const member =
      fields == nullptr ? nullptr : fields->if_contains("member");
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
}

}  // namespace

store::Event event_of(const judge::Change& change) {
  store::Event event;
  event.at = change.at;
  event.kind = change.kind;
  event.scope = change.scope;
  event.subject = change.subject;
  event.data = change.data;
  if (change.finding) {
    event.code = to_string(change.finding->code);
    event.severity = to_string(change.finding->severity);
    event.names = fmt::format("{}", fmt::join(change.finding->subjects, " "));
  } else if (change.kind == "member_changed") {
    event.names = member_in(change.data);
  }
  return event;
}

void Archive::keep(const judge::Change& change, std::int64_t incident) {
  store::Event event = event_of(change);
  event.incident = incident;
  history_.add(std::move(event));
}

}  // namespace wardmote::agent
