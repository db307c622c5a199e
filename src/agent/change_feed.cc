#include "agent/change_feed.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "judge/change.h"
#include "judge/finding.h"

namespace wardmote::agent {

void ChangeFeed::tell(LogLevel level, std::string_view kind, std::initializer_list<LogField> fields,
                      boost::json::object more, const judge::Finding* finding) {
  check(fields.size() > 0, "a change without a subject");
  log(level, kind, fields);

  const LogField& subject = *fields.begin();
  boost::json::object data;
  for (const LogField& field : fields) {
    if (&field != &subject) data[field.key] = escape_control(field.value, 1024);
  }
  for (auto& [key, value] : more) data[key] = std::move(value);

  judge::Change change;
  change.sequence = ++last_;
  change.at = clock_();
  change.kind = kind;
  change.scope = subject.key;
  change.subject = subject.value;
  change.data = boost::json::serialize(data);
  if (finding != nullptr) change.finding = *finding;
  untold_.push_back(std::move(change));

  if (telling_) return;
  telling_ = true;
  for (; !untold_.empty(); untold_.pop_front()) {
    for (const Listener& listener : listeners_) listener(untold_.front());
  }
  telling_ = false;
}

}  // namespace wardmote::agent
