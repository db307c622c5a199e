#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"
#include "judge/thing.h"

namespace wardmote::judge::raft::repair {

/// A cluster whose plans are made.
struct RepairCluster {
  std::string name;
  std::string database;
  /// Members with commands to copy their database and to join anew.
  std::vector<std::string> rebuildable;
  /// How each member is asked. Another text under its name: it may be another server.
  std::map<std::string, std::string, std::less<>> places{};
  /// The commands that rebuild each member. Another text: they may be for another host.
  std::map<std::string, std::string, std::less<>> commands{};

  /// Both, as a plan keeps them; empty: there is no such member.
  [[nodiscard]] std::string place_of(std::string_view member) const;
};

/// Removes servers that are gone for good and rebuilds members that are out, as one look at the
/// cluster shows them.
class RaftRemedy final : public plan::Remedy {
 public:
  RaftRemedy(RepairCluster cluster, RepairView view)
      : cluster_(std::move(cluster)),
        target_{ThingKind::kCluster, cluster_.name},
        view_(std::move(view)) {}

  [[nodiscard]] const ThingId& target() const noexcept override { return target_; }
  [[nodiscard]] TimePoint begun() const noexcept override { return view_.begun; }
  [[nodiscard]] std::string target_id() const override { return to_string(view_.cluster_id); }
  [[nodiscard]] std::vector<std::string> identities() const override;
  [[nodiscard]] std::expected<plan::Plan, std::string> draft(const Finding& finding) const override;
  /// `subject` is a member, which is rebuilt.
  [[nodiscard]] std::expected<plan::Plan, std::string> draft_for(
      std::string_view subject) const override;
  /// A member that is down is remembered as a server for as long as the agent runs: a fresh plan
  /// may know less than the one that was made.
  [[nodiscard]] bool is_same(const plan::Plan& made, const plan::Plan& fresh) const override;
  /// The same member, or the same server, also of a cluster that is called otherwise now.
  [[nodiscard]] bool is_rejected_by(const plan::Plan& rejected,
                                    const plan::Plan& fresh) const override;
  [[nodiscard]] std::expected<TimePoint, std::string> stands_since(
      const plan::Plan& plan, const Finding& finding) const override;
  [[nodiscard]] std::optional<std::string> obstacle(const plan::Plan& plan) const override;
  [[nodiscard]] std::optional<std::string> recovered(const plan::Plan& plan) const override;
  [[nodiscard]] bool is_well(const plan::Plan& plan) const override;
  [[nodiscard]] plan::Decision decide(const plan::Plan& plan, TimePoint now) const override;
  [[nodiscard]] std::optional<std::string> sign_of_life(const plan::Plan& plan) const override;
  [[nodiscard]] std::optional<std::string> answers_as(const plan::Plan& plan) const override;
  [[nodiscard]] bool would_show_life() const noexcept override;
  /// `leader`: who is told to kick. `remotes`: raft addresses of the servers that stay, with a
  /// space between them. `cluster_id`: as its members say; not there when they do not.
  [[nodiscard]] std::map<std::string, std::string> request(const plan::Plan& plan) const override;

 private:
  /// A cluster of this plan's, as far as it is known to be one.
  [[nodiscard]] bool is_its_cluster(const RepairPlan& plan) const;
  /// Why the names of the plan mean something else in the configuration of now.
  [[nodiscard]] std::optional<std::string> renamed(const RepairPlan& plan) const;
  [[nodiscard]] plan::Plan finish(RepairPlan plan) const;

  RepairCluster cluster_;
  ThingId target_;
  RepairView view_;
};

}  // namespace wardmote::judge::raft::repair
