#include "daemon/failover_pairs.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/failover/pair_manager.h"
#include "act/failover/replica.h"
#include "base/epoch_ms.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "config/failover.h"
#include "judge/failover/report.h"
#include "runtime/links.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::daemon {

using act::failover::PairManager;
using act::failover::PairOptions;
using act::failover::ReplicaFiles;

namespace {

/// An order that nobody took up by then is void.
constexpr Duration kOrderHolds = std::chrono::minutes(1);

ReplicaFiles files_of(const config::FailoverDatabase& database, std::string name) {
  return {.database = std::move(name),
          .control = database.control,
          .socket = database.socket,
          .pid = database.pid};
}

}  // namespace

FailoverPairs::FailoverPairs(runtime::Runtime& runtime, store::Store& store, runtime::Links& links,
                             const std::string& node, const std::vector<config::Failover>& pairs,
                             const std::function<act::ActLog*()>& journal)
    : runtime_(runtime) {
  for (const config::Failover& pair : pairs) {
    PairOptions options{.name = pair.name,
                        .node = node,
                        .members = pair.members,
                        .nb = files_of(pair.nb, "OVN_Northbound"),
                        .sb = files_of(pair.sb, "OVN_Southbound"),
                        .nb_file = pair.nb.file,
                        .sb_file = pair.sb.file,
                        .nb_source = pair.nb.source,
                        .sb_source = pair.sb.source,
                        .address = pair.address,
                        .ttl = pair.ttl,
                        .acts = pair.acts,
                        .nofailover = pair.nofailover,
                        .priority = pair.priority,
                        .fence = pair.fence,
                        .fence_timeout = pair.fence_timeout,
                        .hooks = {.pre_promote = pair.hooks.pre_promote,
                                  .on_role_change = pair.hooks.on_role_change,
                                  .timeout = pair.hooks.timeout},
                        .tls = pair.tls};
    pairs_.push_back(
        std::make_unique<PairManager>(runtime, store, links, std::move(options), journal));
  }
}

void FailoverPairs::start() {
  for (const auto& pair : pairs_) pair->start();
}

runtime::Task<void> FailoverPairs::stop() {
  for (const auto& pair : pairs_) co_await pair->stop();
}

std::vector<judge::failover::PairReport> FailoverPairs::pairs() const {
  std::vector<judge::failover::PairReport> reports;
  reports.reserve(pairs_.size());
  for (const auto& pair : pairs_) reports.push_back(pair->report());
  return reports;
}

PairManager* FailoverPairs::find(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find_if(pairs_, [&](const auto& pair) { return pair->options().name == name; });
  return found == pairs_.end() ? nullptr : found->get();
}

/// kMissing; kInvalid: `member` is none of it. An empty one is anybody.
Result<PairManager*> FailoverPairs::manager_of(std::string_view pair,
                                               const std::string& member) const {
  PairManager* const manager = find(pair);
  if (manager == nullptr)
    return fail(Errc::kMissing, "no failover pair '{}'", escape_control(pair));
  const auto& members = manager->options().members;
  if (!member.empty() && std::ranges::find(members, member) == members.end())
    return fail(Errc::kInvalid, "'{}' is no member of {}", escape_control(member), pair);
  return manager;
}

FailoverPairs::Written FailoverPairs::hand_over(std::string_view pair, std::string to, bool force,
                                                std::string by) {
  const Result<PairManager*> manager = manager_of(pair, to);
  if (!manager) return std::unexpected(manager.error());
  return (*manager)->order({.to = std::move(to),
                            .forced = force,
                            .by = std::move(by),
                            .until_ms = epoch_ms(runtime_.wall_now() + kOrderHolds)});
}

FailoverPairs::Written FailoverPairs::schedule(std::string_view pair,
                                               store::FailoverSchedule switchover) {
  const Result<PairManager*> manager = manager_of(pair, switchover.to);
  if (!manager) return std::unexpected(manager.error());
  if (switchover.at <= runtime_.wall_now())
    return fail(Errc::kInvalid, "{} is over", format_utc(switchover.at));
  return (*manager)->schedule(switchover);
}

FailoverPairs::Written FailoverPairs::flush(std::string_view pair) {
  const Result<PairManager*> manager = manager_of(pair);
  if (!manager) return std::unexpected(manager.error());
  return (*manager)->flush();
}

FailoverPairs::Written FailoverPairs::edit(std::string_view pair, const store::FailoverEdit& edit) {
  const Result<PairManager*> manager = manager_of(pair, edit.node);
  if (!manager) return std::unexpected(manager.error());
  return (*manager)->edit(edit);
}

FailoverPairs::Written FailoverPairs::pause_pair(std::string_view pair, Duration time,
                                                 std::string by) {
  const Result<PairManager*> manager = manager_of(pair);
  if (!manager) return std::unexpected(manager.error());
  store::FailoverPause pause{.by = std::move(by)};
  if (time > Duration::zero()) pause.until = runtime_.now() + time;
  return (*manager)->pause(pause);
}

FailoverPairs::Written FailoverPairs::resume_pair(std::string_view pair) {
  const Result<PairManager*> manager = manager_of(pair);
  if (!manager) return std::unexpected(manager.error());
  return (*manager)->resume();
}

}  // namespace wardmote::daemon
