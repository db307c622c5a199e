#pragma once

#include <algorithm>
#include <span>

#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge {

/// Something critical that shows and is not confirmed yet; null: nothing does. While one does, a
/// thing is not proven good, for all that no finding stands.
inline const Observed* critical_sign(std::span<const Observed> observed) {
  const auto found = std::ranges::find_if(
      observed, [](const Observed& one) { return info(one.code).severity == Severity::kCritical; });
  return found == observed.end() ? nullptr : &*found;
}

}  // namespace wardmote::judge
