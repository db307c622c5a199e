#pragma once

#include "judge/outcome.h"

namespace wardmote::judge {

/// The result of judging facts about a subject.
struct Judgement {
  Outcome outcome = Outcome::kOk;
  Reason reason;
  friend bool operator==(const Judgement&, const Judgement&) = default;
};

}  // namespace wardmote::judge
