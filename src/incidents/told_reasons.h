#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::incidents {

/// With which reason each failing check was told of last. A check may fail for another reason by
/// now, and what is said of it then must not be the first one for ever; nor is each look news.
/// Pure: time is a parameter.
class ToldReasons {
 public:
  /// `other_words`: for how long the first words may stand.
  explicit ToldReasons(Duration other_words) : other_words_(other_words) {}

  /// The check is told of with this reason.
  void tell(const std::string& check, const judge::Reason& reason, TimePoint now);
  void forget(const std::string& check) { told_.erase(check); }
  /// Whether it is worth saying that the check, which was told of, fails for this reason now: it is
  /// of another kind for half a minute, or in other words for so long.
  [[nodiscard]] bool is_news(const std::string& check, const judge::Reason& reason,
                             TimePoint now) const;

 private:
  struct Told {
    judge::Reason reason;
    TimePoint at;
  };
  Duration other_words_;
  std::map<std::string, Told> told_;
};

}  // namespace wardmote::incidents
