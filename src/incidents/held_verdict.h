#pragma once

#include "judge/outcome.h"
#include "judge/verdict.h"

namespace wardmote::incidents {

/// What is known of a thing from before the agent began, or from another agent that led before it.
struct HeldVerdict {
  judge::Verdict verdict = judge::Verdict::kUnknown;
  judge::Reason reason;
  /// It must not be called better than this before the windows of its findings have passed anew.
  /// False: this agent has seen it well with its own eyes all the time.
  bool binds = true;
};

}  // namespace wardmote::incidents
