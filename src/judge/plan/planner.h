#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"

namespace wardmote::judge::plan {

/// A finding that a policy is for, and why nothing is planned against it.
struct Refusal {
  std::string policy;
  ThingId target;
  Code code{};
  std::string subject;
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Nobody's plans begin in this scope, the name of a target or "" for all, until then.
struct Pause {
  std::string scope;
  std::string by;
  std::optional<TimePoint> until;  ///< nothing: until somebody resumes
  /// What had that name (Remedy::identities), which is held under another name too; empty: not
  /// known.
  std::vector<std::string> identities{};

  /// Whether it may be for what these are of.
  [[nodiscard]] bool fits(std::span<const std::string> its) const noexcept;
  friend bool operator==(const Pause&, const Pause&) = default;
};

/// What became of a plan, for the journal: the plan as it was then, and the journal's word for it.
struct Change {
  Plan plan;
  std::string word;
};

/// The plans: makes them of findings and of orders, and says when one may begin. Pure: time is a
/// parameter; what changed is asked for with take_changed(). It begins nothing itself.
class Planner {
 public:
  explicit Planner(std::vector<Policy> policies) : policies_(std::move(policies)) {}

  void set_policies(std::vector<Policy> policies) { policies_ = std::move(policies); }
  [[nodiscard]] const std::vector<Policy>& policies() const noexcept { return policies_; }
  /// Whether anything is planned there at all.
  [[nodiscard]] bool cares_for(const ThingId& target) const noexcept;

  /// What an earlier life wrote down. A plan that waits is not withdrawn before there was time to
  /// see its cause again.
  void recall(Plan plan, TimePoint now);
  /// The next plan has a higher number than this.
  void number_after(std::int64_t last) { last_id_ = std::max(last_id_, last); }
  /// The highest number that was ever given.
  [[nodiscard]] std::int64_t last_number() const noexcept { return last_id_; }
  /// These are of what is paused under this name, as far as anybody knew before. The pause if it
  /// did not have them all, else null.
  const Pause* learn(std::string_view scope, std::span<const std::string> identities);
  void recall(Pause pause) { pauses_.insert_or_assign(pause.scope, std::move(pause)); }

  /// Something was judged: makes plans, withdraws those whose cause is gone, and approves those
  /// whose policy needs nobody for it. `brake` is why nothing may begin now, if so.
  void consider(const Remedy& seen, std::span<const Finding> findings,
                const std::optional<std::string>& brake, TimePoint now);
  /// Somebody asks for a plan for a part of it: the number of the plan, which waits for approval,
  /// or why there is none.
  std::expected<std::int64_t, std::string> propose(const Remedy& seen, std::string_view subject,
                                                   std::string by, TimePoint now);
  /// It may begin; one that is unclear goes on with the step that was not finished. The reason why
  /// not, else nothing.
  std::optional<std::string> approve(std::int64_t id, std::string by, TimePoint now);
  /// It ends before its next step, or never begins; what it is for is not planned again, whoever
  /// starts the agent anew, until it was seen well. The reason why not, else nothing.
  std::optional<std::string> reject(std::int64_t id, const std::string& by,
                                    const std::string& comment, TimePoint now);
  /// The pause as it holds: one that lasts longer already is not shortened.
  const Pause& pause(Pause pause);
  /// Whether there was a pause of this scope.
  bool resume(std::string_view scope);

  /// Takes over what became of a plan that ran.
  void update(Plan plan);
  /// The incident that plans of that cause belong to.
  void set_incident(std::int64_t id, std::int64_t incident);

  [[nodiscard]] const std::map<std::int64_t, Plan>& plans() const noexcept { return plans_; }
  [[nodiscard]] const std::vector<Refusal>& refusals() const noexcept { return refusals_; }
  [[nodiscard]] const std::map<std::string, Pause, std::less<>>& pauses() const noexcept {
    return pauses_;
  }
  /// Why nothing may begin in that scope: it is paused, or was under another name. Nothing: it may.
  [[nodiscard]] std::optional<std::string> paused(
      std::string_view scope, TimePoint now, std::span<const std::string> identities = {}) const;
  /// What it did since it was asked last, in that order; nothing of update().
  std::vector<Change> take_changed() { return std::exchange(changed_, {}); }
  /// Plans that it has forgotten since it was asked last.
  std::vector<std::int64_t> take_forgotten() { return std::exchange(forgotten_, {}); }

 private:
  /// The open plan for the same.
  [[nodiscard]] const Plan* same_as(const Remedy& seen, const Plan& plan) const;
  [[nodiscard]] const Plan* rejection_of(const Remedy& seen, const Plan& plan) const;
  std::int64_t add(Plan plan, TimePoint now);
  void note(Plan& plan, PlanState state, std::string reason, TimePoint now);
  void run(Plan& plan, std::string approver, TimePoint now);
  void lift_rejections(const Remedy& seen);
  void refuse(const Remedy& seen, const Policy& policy, const Finding& finding, std::string reason);
  void consider(const Remedy& seen, const Policy& policy, const Finding& finding,
                std::vector<std::int64_t>& standing, TimePoint now);
  void reconsider(const Remedy& seen, Plan& plan, bool stands,
                  const std::optional<std::string>& brake, TimePoint now);
  /// Why the plan, whose finding is not there, is over; nothing: that is not certain yet.
  [[nodiscard]] std::optional<std::string> end_of_cause(const Remedy& seen, const Plan& plan,
                                                        TimePoint now) const;
  [[nodiscard]] const Policy* policy(std::string_view name) const noexcept;
  /// Budget, cooldown, one plan at a time of a target.
  [[nodiscard]] std::optional<std::string> held_back(const Plan& plan, const Policy& policy,
                                                     TimePoint now) const;
  void forget_old();

  std::vector<Policy> policies_;
  std::map<std::int64_t, Plan> plans_;
  std::vector<Refusal> refusals_;
  std::map<std::string, Pause, std::less<>> pauses_;
  std::int64_t last_id_ = 0;
  std::vector<Change> changed_;
  std::map<std::int64_t, TimePoint> unseen_;  ///< recalled plans whose cause was not seen since
  std::vector<std::int64_t> forgotten_;
};

}  // namespace wardmote::judge::plan
