#pragma once

#include "judge/outcome.h"
#include "judge/verdict.h"

namespace wardmote::incidents {

/// What is known of a thing from before the agent began. It must not be called better than this
/// before the windows of its findings have passed anew.
struct HeldVerdict {
  judge::Verdict verdict = judge::Verdict::kUnknown;
  judge::Reason reason;
};

}  // namespace wardmote::incidents
