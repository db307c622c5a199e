#include "incidents/change_feed.h"

#include <utility>

#include "base/log.h"
#include "judge/change.h"
#include "judge/thing.h"
#include "serve/change_text.h"

namespace wardmote::incidents {

void ChangeFeed::tell(judge::ThingId of, judge::Event event) {
  judge::Change change{++last_, clock_(), std::move(of), std::move(event)};
  serve::ChangeText text = serve::text_of(change);
  log_fields(text.level, text.kind, text.fields);
  untold_.push_back({std::move(change), std::move(text)});

  // The board opens gates while the agent is made, before anybody listens.
  if (telling_ || listeners_.empty()) return;
  telling_ = true;
  for (; !untold_.empty(); untold_.pop_front()) {
    for (const Listener& listener : listeners_) {
      listener(untold_.front().change, untold_.front().text);
    }
  }
  telling_ = false;
}

void ChangeFeed::restate(judge::ThingId of, judge::FindingChanged finding) {
  restated_({.at = {}, .of = std::move(of), .event = std::move(finding)});
}

}  // namespace wardmote::incidents
