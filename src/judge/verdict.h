#pragma once

#include <cstdint>
#include <string_view>

#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge {

/// The verdict on a whole: a cluster, a node, everything that an agent watches.
enum class Verdict : std::uint8_t { kOk, kWarning, kCritical, kUnknown };

/// `ok`, `warning`, `critical`, `unknown`
std::string_view to_string(Verdict verdict) noexcept;

/// The greater is worse: critical before warning before unknown before ok.
int badness(Verdict verdict) noexcept;

/// The exit code of monitoring plugins: 0 ok, 1 warning, 2 critical, 3 unknown.
int exit_code_of(Verdict verdict) noexcept;
int exit_code_of(Outcome outcome) noexcept;

/// The outcome of the check that stands for the whole.
Outcome outcome_of(Verdict verdict) noexcept;
/// The verdict that a finding of this severity causes.
Verdict verdict_of(Severity severity) noexcept;

}  // namespace wardmote::judge
