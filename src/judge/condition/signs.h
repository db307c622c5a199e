#pragma once

#include <algorithm>
#include <span>

#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge {

/// The gravest thing that shows, is a fault and is not confirmed yet; null: nothing does. While one
/// does, a thing is not proven good, for all that no finding stands.
inline const Observed* gravest_sign(std::span<const Observed> observed) {
  const auto severity = [](const Observed& one) { return info(one.code).severity; };
  const auto gravest = std::ranges::max_element(observed, {}, severity);
  const bool fault = gravest != observed.end() && severity(*gravest) != Severity::kInfo;
  return fault ? &*gravest : nullptr;
}

}  // namespace wardmote::judge
