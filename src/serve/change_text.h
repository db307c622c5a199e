#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "judge/change.h"

namespace wardmote::serve {

/// A change as people and programs read it. Made once, and used by the log, the event stream and
/// the history.
struct ChangeText {
  LogLevel level = LogLevel::kInfo;
  std::string kind;              ///< `finding_raised`; stable, docs/events.md lists them
  std::vector<LogField> fields;  ///< of the log line; the first names the subject
  /// all fields but the first, and the fields that only the JSON has: a JSON object, capped and
  /// escaped
  std::string data;
};

ChangeText text_of(const judge::Change& change);

}  // namespace wardmote::serve
