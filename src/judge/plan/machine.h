#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/plan/consent.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"

namespace wardmote::judge::plan {

/// Decides on a look that began after the last act ended, and while those who let it act consent.
/// Pure. Once something may have been changed the plan fails no more: it asks.
Decision decide(const Plan& plan, const Remedy& remedy, const Consent& consent, TimePoint now);

/// How a plan ends that may not go on.
Decision give_up(const Plan& plan, std::string reason);

/// What is known of how an act ended.
enum class Effect : std::uint8_t {
  kDone,
  kUnknown,  ///< done, not done or half done
  kNone,     ///< it was never begun
};

/// The current step is begun under this fencing token.
void begin(Plan& plan, std::int64_t token, TimePoint now);
/// Whether it does, to repeat the step, to confirm what an earlier act has done: that is not long
/// ago.
bool is_young(const Step& step, TimePoint now) noexcept;
/// Notes of a running plan what a look shows of the life of what it is for. Whether that is news.
bool note_life(Plan& plan, const Remedy& remedy);
/// Why the act of the current step, which is under way, must go no further.
std::optional<std::string> reason_to_stop(const Plan& plan, TimePoint now);
/// What was noted in `before`, the same plan, and is not in `plan` since it was never written down.
void keep_notes(Plan& plan, const Plan& before);
/// What came of the current step, which begin() began: `acted` is when its act was started, or
/// before. A plan that somebody has ended meanwhile stays so. Returns the journal's word for it:
/// `result`, `unknown`, `failure`.
std::string end_act(Plan& plan, Effect effect, std::string detail, TimePoint acted, TimePoint now);
/// Carries out a decision that begins nothing and waits for nothing. Returns the journal's word:
/// `result`, `asked`, `done`, `failed`, `unclear`, `withdrawn`.
std::string settle(Plan& plan, const Decision& decision, TimePoint now);
/// Has the step that was not finished begun again, since somebody approved. What may still show is
/// looked at first.
void retry(Plan& plan);

}  // namespace wardmote::judge::plan
