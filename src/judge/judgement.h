#pragma once

#include "judge/outcome.h"

namespace wardmote::judge {

/// What facts about a subject come to.
struct Judgement {
  Outcome outcome = Outcome::kOk;
  Reason reason;
  friend bool operator==(const Judgement&, const Judgement&) = default;
};

}  // namespace wardmote::judge
