#pragma once

#include <span>
#include <string_view>

#include "judge/finding.h"
#include "judge/thing.h"

namespace wardmote::judge {

/// One kind of plan, as configurations, records and people name it.
struct RemedyInfo {
  std::string_view name;        ///< `remove_server`
  std::string_view act;         ///< what the agent does: `kick the server`
  std::span<const Code> codes;  ///< the findings that it answers
  ThingKind target;             ///< what it changes
};

/// The table of all remedies. A finding that no remedy answers never leads to a plan.
std::span<const RemedyInfo> remedies() noexcept;
/// Null: no remedy answers it.
const RemedyInfo* remedy_for(Code code) noexcept;
/// Null: there is no such remedy.
const RemedyInfo* find_remedy(std::string_view name) noexcept;

}  // namespace wardmote::judge
