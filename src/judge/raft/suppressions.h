#pragma once

#include <span>

#include "judge/condition/condition_tracker.h"

namespace wardmote::judge::raft {

/// Which finding of a raft cluster only follows from which other: one fault gives the smallest true
/// set of findings.
std::span<const Suppression> suppressions() noexcept;

}  // namespace wardmote::judge::raft
