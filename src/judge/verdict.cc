#include "judge/verdict.h"

#include <string_view>

#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge {

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kWarning: return "warning";
    case Verdict::kCritical: return "critical";
    case Verdict::kUnknown: return "unknown";
  }
  return "unknown";
}

int badness(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kOk: return 0;
    case Verdict::kUnknown: return 1;
    case Verdict::kWarning: return 2;
    case Verdict::kCritical: return 3;
  }
  return 1;
}

int exit_code_of(Verdict verdict) noexcept {
  return static_cast<int>(verdict);
}

int exit_code_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOk: return 0;
    case Outcome::kWarn: return 1;
    case Outcome::kFail: return 2;
    case Outcome::kUnknown: return 3;
  }
  return 3;
}

Outcome outcome_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kOk: return Outcome::kOk;
    case Verdict::kWarning: return Outcome::kWarn;
    case Verdict::kCritical: return Outcome::kFail;
    case Verdict::kUnknown: return Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

Verdict verdict_of(Severity severity) noexcept {
  switch (severity) {
    case Severity::kInfo: return Verdict::kOk;
    case Severity::kWarning: return Verdict::kWarning;
    case Severity::kCritical: return Verdict::kCritical;
  }
  return Verdict::kCritical;
}

}  // namespace wardmote::judge
