#pragma once

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
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {

/// What is known of one cluster when plans are made.
struct ClusterCase {
  std::string_view cluster;
  std::string_view database;
  std::span<const Finding> findings;
  const raft::Survey& survey;
  /// Members with commands to copy their database and to join anew.
  std::span<const std::string> rebuildable;
};

/// A finding that a policy is for, and why nothing is planned against it.
struct Refusal {
  std::string policy;
  std::string cluster;
  Code code{};
  std::string subject;
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Nobody's plans begin in this scope, the name of a cluster or "" for all, until then.
struct Pause {
  std::string scope;
  std::string by;
  std::optional<TimePoint> until;  ///< nothing: until somebody resumes
  friend bool operator==(const Pause&, const Pause&) = default;
};

/// The plans: makes them of findings and of orders, and says when one may begin. Pure: time is a
/// parameter; what changed is asked for with take_changed(). It begins nothing itself.
class Planner {
 public:
  explicit Planner(std::vector<Policy> policies) : policies_(std::move(policies)) {}

  void set_policies(std::vector<Policy> policies) { policies_ = std::move(policies); }
  [[nodiscard]] const std::vector<Policy>& policies() const noexcept { return policies_; }
  /// Whether anything is planned in that cluster at all.
  [[nodiscard]] bool cares_for(std::string_view cluster) const noexcept;

  /// What an earlier life wrote down.
  void recall(Plan plan);
  void recall(Pause pause) { pauses_.insert_or_assign(pause.scope, std::move(pause)); }

  /// The cluster was judged: makes plans, withdraws those whose cause is gone, and approves those
  /// whose policy needs nobody for it. `brake` is why nothing may begin now, if so.
  void consider(const ClusterCase& seen, const std::optional<std::string>& brake, TimePoint now);
  /// Somebody wants the member rebuilt: the number of the plan, which waits for approval, or why
  /// there is none.
  std::expected<std::int64_t, std::string> ask_to_rebuild(const ClusterCase& seen,
                                                          std::string_view member, std::string by,
                                                          TimePoint now);
  /// It may begin; one that is unclear goes on with the step that was not finished. The reason why
  /// not, else nothing.
  std::optional<std::string> approve(std::int64_t id, std::string by, TimePoint now);
  /// It ends here, or never begins. The reason why not, else nothing.
  std::optional<std::string> reject(std::int64_t id, const std::string& by,
                                    const std::string& comment, TimePoint now);
  void pause(Pause pause) { recall(std::move(pause)); }
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
  /// Why nothing may begin in that cluster: it is paused. Nothing: it may.
  [[nodiscard]] std::optional<std::string> paused(std::string_view cluster, TimePoint now) const;
  /// Plans that were made or changed since it was asked last, but for update().
  std::vector<std::int64_t> take_changed() { return std::exchange(changed_, {}); }
  /// Plans that it has forgotten since it was asked last.
  std::vector<std::int64_t> take_forgotten() { return std::exchange(forgotten_, {}); }

 private:
  std::optional<Plan> draft(const ClusterCase& seen, const Policy& policy,
                            const Finding& finding) const;
  /// The open plan for the same, else one that was rejected since then.
  [[nodiscard]] const Plan* same_as(const Plan& plan, std::optional<TimePoint> since) const;
  std::int64_t add(Plan plan, TimePoint now);
  void note(Plan& plan, PlanState state, std::string reason, TimePoint now);
  void refuse(const ClusterCase& seen, const Policy& policy, const Finding& finding,
              std::string reason);
  void consider(const ClusterCase& seen, const Policy& policy, const Finding& finding,
                std::vector<std::int64_t>& standing, TimePoint now);
  void reconsider(const ClusterCase& seen, Plan& plan, bool stands,
                  const std::optional<std::string>& brake, TimePoint now);
  [[nodiscard]] const Policy* policy(std::string_view name) const noexcept;
  /// Budget, cooldown, one plan at a time in a cluster.
  [[nodiscard]] std::optional<std::string> held_back(const Plan& plan, const Policy& policy,
                                                     TimePoint now) const;
  void forget_old();

  std::vector<Policy> policies_;
  std::map<std::int64_t, Plan> plans_;
  std::vector<Refusal> refusals_;
  std::map<std::string, Pause, std::less<>> pauses_;
  std::int64_t last_id_ = 0;
  std::vector<std::int64_t> changed_;
  std::vector<std::int64_t> forgotten_;
};

}  // namespace wardmote::judge::plan
