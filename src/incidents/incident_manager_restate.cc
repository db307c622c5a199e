// What stands is told in other words than it was: no change is made of it, but what is said of it
// is how it is now.

#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "incidents/incident_manager.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/incident/news.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "runtime/runtime.h"

namespace wardmote::incidents {

using judge::incident::News;
using judge::incident::Symptom;

namespace {

std::string key_of(const Symptom& symptom) {
  return fmt::format("{} {} {}", symptom.owner, to_string(symptom.code),
                     symptom.names.empty() ? "" : symptom.names.front());
}

}  // namespace

void IncidentManager::restate(const std::string& check, const judge::CheckChanged& present) {
  const TimePoint now = runtime_.now();
  if (!reasons_.is_news(check, present.reason, now)) return;
  reasons_.tell(check, present.reason, now);
  const judge::Change change{.at = {}, .of = {judge::ThingKind::kCheck, check}, .event = present};
  const auto news = news_of(change, known_, now);
  if (!news || !news->stands) return;
  note(news->symptom, true);
  if (!follows() && book_.incident_of(news->symptom) != 0) take(book_.raise(news->symptom, now));
}

void IncidentManager::tell_words(const Symptom& symptom, bool stands) {
  const std::string key = key_of(symptom);
  if (!stands) return words_.forget(key);
  words_.tell(key, {judge::ReasonCode::kState, symptom.summary}, runtime_.now());
}

/// The incident says what is so now, and so does what is told of it again.
void IncidentManager::restate_finding(const judge::Change& change) {
  const TimePoint now = runtime_.now();
  const std::optional<News> news = news_of(change, known_, now);
  if (!news || !news->stands) return;
  const judge::Reason words{judge::ReasonCode::kState, news->symptom.summary};
  if (!words_.is_news(key_of(news->symptom), words, now)) return;
  tell_words(news->symptom, true);
  note(news->symptom, true);
  if (!follows() && book_.incident_of(news->symptom) != 0) raise(news->symptom);
}

}  // namespace wardmote::incidents
