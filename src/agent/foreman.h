#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/repair/hands.h"
#include "agent/change_feed.h"
#include "agent/config/config.h"
#include "agent/written.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/survey.h"
#include "runtime/database.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/plans.h"
#include "store/journal.h"
#include "store/records.h"

namespace wardmote::agent {

/// Has plans made of what the judge found, and carries out those that may begin: step by step, each
/// on a look that is newer than the last act, each with its intent written down before and its
/// result after. A plan that an earlier life had begun goes on from what it wrote. Life cycle:
/// open() before heard(), stop() before destruction; what it borrows outlives it. Thread: the core
/// loop.
class Foreman final : public serve::PlanDesk {
 public:
  /// What it asks others for.
  struct Doors {
    std::function<void(const std::string& cluster)> look;  ///< at all members, at once
    std::function<bool()> storm;                           ///< rages: nothing may act
    /// The open incident that a finding of this cluster belongs to; 0: none.
    std::function<std::int64_t(const std::string& cluster)> incident;
  };

  /// `database` may be null: then nothing runs.
  Foreman(runtime::Runtime& runtime, runtime::Database* database, const config::Config& config,
          ChangeFeed& feed, act::repair::Hands& hands, Doors doors);

  /// Reads what earlier lives wrote down.
  runtime::Task<Result<void>> open();
  runtime::Task<void> stop();

  /// Whether somebody wants to know of this cluster.
  [[nodiscard]] bool cares_for(std::string_view cluster) const noexcept {
    return planner_.cares_for(cluster);
  }
  /// A round of looks at the cluster was judged.
  void heard(const std::string& cluster, std::span<const judge::Finding> findings,
             judge::raft::Survey survey);
  /// The configuration is another now.
  void reload();

  [[nodiscard]] const judge::plan::Planner& planner() const noexcept override { return planner_; }
  [[nodiscard]] const store::Journal& journal() const noexcept override { return journal_; }
  [[nodiscard]] std::optional<std::string> frozen() const override;
  Result<std::int64_t> ask_to_rebuild(std::string_view cluster, std::string_view member,
                                      std::string by) override;
  Result<void> approve(std::int64_t id, std::string by, std::string comment) override;
  Result<void> reject(std::int64_t id, std::string by, std::string comment) override;
  Result<void> pause(std::string scope, std::optional<Duration> time, std::string by) override;
  Result<void> resume(std::string scope, std::string by) override;
  std::shared_ptr<runtime::HttpHold> written() override { return last_put_; }

 private:
  /// The last that is known of a cluster.
  struct Known {
    judge::raft::Survey survey;
    std::vector<judge::Finding> findings;
  };

  [[nodiscard]] const config::Cluster* cluster_of(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<std::string> brake(std::string_view cluster) const;
  void take_changes(const std::string& actor);
  void start_running();
  void put(store::JournalEntry entry, store::RecordChanges changes);
  runtime::Task<void> write(store::JournalEntry entry, store::RecordChanges changes,
                            std::shared_ptr<Written> written);
  runtime::Task<void> run(std::int64_t id);
  runtime::Task<std::optional<judge::raft::Survey>> fresh_look(std::string cluster);
  runtime::Task<void> do_step(judge::plan::Plan plan, judge::raft::Survey survey);
  runtime::Task<void> settle(judge::plan::Plan plan, judge::plan::Decision decision);
  /// Writes until it is written, or a later agent has taken over.
  runtime::Task<void> write_surely(store::JournalEntry entry, judge::plan::Plan plan);
  void wait_for(judge::plan::Plan plan, std::string reason);
  [[nodiscard]] store::JournalEntry entry_of(const judge::plan::Plan& plan, std::string kind,
                                             std::string detail) const;
  [[nodiscard]] store::RecordChanges record_of(const judge::plan::Plan& plan) const;
  void tell(LogLevel level, std::string_view kind, const judge::plan::Plan& plan,
            const std::string& step, const std::string& detail);

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  const config::Config& config_;
  ChangeFeed& feed_;
  act::repair::Hands& hands_;
  Doors doors_;
  judge::plan::Planner planner_;
  store::Journal journal_;
  std::map<std::string, Known, std::less<>> known_;
  std::set<std::int64_t> running_;  ///< plans that have a task
  /// Of the newest entry; the journal writes in the order in which it was given.
  std::shared_ptr<Written> last_put_;
  bool superseded_ = false;  ///< a later agent writes the journal now
  runtime::TaskGroup writes_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
