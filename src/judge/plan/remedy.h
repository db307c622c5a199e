#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"

namespace wardmote::judge::plan {

/// What to do with the current step of a running plan.
enum class Move : std::uint8_t {
  kWait,      ///< look again later
  kBegin,     ///< write the intent down, look once more, do it, write the result down
  kFinish,    ///< it is done, or there is nothing to do
  kRepeat,    ///< an earlier step was done too long ago: it is confirmed or done again first
  kFail,      ///< and the plan with it; nothing was changed
  kAsk,       ///< nobody knows, or it is half way: somebody must say how to go on
  kWithdraw,  ///< nobody needs it any more, or nobody wants it
  kEnd,       ///< all steps are done
};

struct Decision {
  Move move = Move::kWait;
  std::string detail;
  std::string step{};  ///< kRepeat: which one
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// What plans can do about one thing, as one look shows it: all that is to be known of a domain to
/// plan for it and to carry its plans out. Made anew of each look, which has a form of its own in
/// each domain, so that nobody else needs to know that form. Pure, and never changes.
class Remedy {
 public:
  Remedy() = default;
  Remedy(const Remedy&) = delete;
  Remedy& operator=(const Remedy&) = delete;
  virtual ~Remedy() = default;

  /// That was looked at.
  [[nodiscard]] virtual const ThingId& target() const noexcept = 0;
  /// When the look began, and the earliest part of it if it has several.
  [[nodiscard]] virtual TimePoint begun() const noexcept = 0;

  /// The plan that answers the finding, or why there is none: it is not certain what the finding is
  /// about. A draft has its target, remedy, arguments, subject, summary, cause and steps.
  [[nodiscard]] virtual std::expected<Plan, std::string> draft(const Finding& finding) const = 0;
  /// The plan for a part of the target that somebody asks for, or why there is none.
  [[nodiscard]] virtual std::expected<Plan, std::string> draft_for(
      std::string_view subject) const = 0;
  /// Whether a plan that was made is for the same as one that would be made now. Of what a plan is
  /// about, an agent that has just started may know less.
  [[nodiscard]] virtual bool is_same(const Plan& made, const Plan& fresh) const = 0;
  /// The id that nothing else has, as in kTargetId; empty: none, or not known.
  [[nodiscard]] virtual std::string target_id() const { return ""; }
  /// What the target is, whatever it is called, what says most first: the id of a cluster, the
  /// places where it is asked. Empty: not known, or its name says it.
  [[nodiscard]] virtual std::vector<std::string> identities() const { return {}; }
  /// Whether what somebody rejected is touched by a plan that would be made now.
  [[nodiscard]] virtual bool is_rejected_by(const Plan& rejected, const Plan& fresh) const = 0;
  /// Since when the evidence for the plan has stood without a break, the finding included, or why
  /// nobody can vouch for it.
  [[nodiscard]] virtual std::expected<TimePoint, std::string> stands_since(
      const Plan& plan, const Finding& finding) const = 0;
  /// What forbids to begin the plan.
  [[nodiscard]] virtual std::optional<std::string> obstacle(const Plan& plan) const = 0;
  /// Why nobody needs the plan any more; nothing while that is not certain.
  [[nodiscard]] virtual std::optional<std::string> recovered(const Plan& plan) const = 0;
  /// Whether what the plan is for is certainly over. The plan may be for another target.
  [[nodiscard]] virtual bool is_well(const Plan& plan) const = 0;

  /// What to do with the current step, which there is. Consent is asked elsewhere. A step that was
  /// begun and of which nobody knows how it ended is looked at first: what is found done is done.
  [[nodiscard]] virtual Decision decide(const Plan& plan, TimePoint now) const = 0;
  /// What shows that what the plan is for lives, as far as the current step must not be done to it
  /// then; nothing: nothing does, or the step harms nothing that lives.
  [[nodiscard]] virtual std::optional<std::string> sign_of_life(
      [[maybe_unused]] const Plan& plan) const {
    return std::nullopt;
  }
  /// The id as which it takes part again, once the current step, which would bring that about, was
  /// begun.
  [[nodiscard]] virtual std::optional<std::string> answers_as(
      [[maybe_unused]] const Plan& plan) const {
    return std::nullopt;
  }
  /// Whether the look would show it.
  [[nodiscard]] virtual bool would_show_life() const noexcept { return true; }
  /// What the act of the current step needs to know of this moment, besides the plan's arguments.
  [[nodiscard]] virtual std::map<std::string, std::string> request(const Plan& plan) const = 0;
};

}  // namespace wardmote::judge::plan
