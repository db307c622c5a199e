#include "incidents/told_reasons.h"

#include <chrono>
#include <string>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::incidents {
namespace {

constexpr Duration kAnotherKind = std::chrono::seconds(30);

}  // namespace

void ToldReasons::tell(const std::string& check, const judge::Reason& reason, TimePoint now) {
  told_[check] = {reason, now};
}

bool ToldReasons::is_news(const std::string& check, const judge::Reason& reason,
                          TimePoint now) const {
  const auto told = told_.find(check);
  if (told == told_.end()) return false;
  const auto& [before, at] = told->second;
  if (before.code != reason.code) return now - at >= kAnotherKind;
  return before.text != reason.text && now - at >= other_words_;
}

}  // namespace wardmote::incidents
