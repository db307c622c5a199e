#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "incidents/held_verdict.h"
#include "judge/finding.h"
#include "judge/verdict.h"

namespace wardmote::incidents {

class IncidentManager;

/// What an earlier life of the agent knew of things that are judged as a whole.
struct Holds {
  std::function<std::optional<HeldVerdict>(const std::string& thing)> held;
  /// All was asked several times in a row, and nothing was to be seen.
  std::function<void(const std::string& thing)> seen_well;
};

/// `shown_at_once`: what every look would show, if it were there; of the rest only time can say
/// that it is over. It outlives the holds.
Holds holds_of(IncidentManager& incidents, std::span<const judge::Code> shown_at_once);

/// What is held of one thing: it is called no better until it was seen well several rounds in a
/// row.
class Hold {
 public:
  /// What is held of it now, if anything. `clean`: whether the round that has ended was seen in
  /// full and shows nothing that might become a finding; nothing: none has ended.
  std::optional<HeldVerdict> keep(const Holds& holds, const std::string& thing,
                                  std::optional<bool> clean);

 private:
  int clean_rounds_ = 0;  ///< in a row, while something is held
};

/// What is seen of a thing, and no better than what is held of it.
judge::Verdict worse_of(const std::optional<HeldVerdict>& held, judge::Verdict seen) noexcept;

}  // namespace wardmote::incidents
