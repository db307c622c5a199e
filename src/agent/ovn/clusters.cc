#include "agent/ovn/clusters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/plan/plan_runner.h"
#include "agent/archive.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/ovn/cluster_board.h"
#include "agent/ovn/cluster_watch.h"
#include "agent/scheduler.h"
#include "base/check.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "incidents/record_writer.h"
#include "judge/finding.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/raft/opinion.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/sighting.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "observe/kinds.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/raft/cluster_view.h"
#include "serve/raft/members.h"
#include "serve/route.h"
#include "store/agent_record.h"
#include "store/samples.h"

namespace wardmote::agent {
namespace {

using runtime::Task;

/// How it is asked: another text is perhaps another server.
std::string place_of(const config::Member& member) {
  std::string place;
  for (const auto* const way : {&member.control, &member.ovsdb}) {
    if (*way) place += to_string(**way) + " ";
  }
  for (const auto* const command : {&member.control_command, &member.ovsdb_command})
    place += fmt::format("{} ", fmt::join(*command, " "));
  return place;
}

/// The kind of the checks that look at one server.
constexpr std::string_view kCheckKind = "ovn";

std::string looker(const std::string& check) {
  return "check " + check;
}

/// What plans need to know of the configuration.
judge::raft::repair::RepairCluster repair_of(const config::Cluster& cluster) {
  judge::raft::repair::RepairCluster repair{cluster.name, cluster.expectation.database, {}};
  for (const config::Member& member : cluster.members) {
    repair.places[member.name] = place_of(member);
    if (member.repair.copy.empty() || member.repair.rejoin.empty()) continue;
    repair.rebuildable.push_back(member.name);
    for (const auto* const command : {&member.repair.copy, &member.repair.rejoin})
      repair.commands[member.name] += fmt::format("{} ", fmt::join(*command, " "));
  }
  return repair;
}

}  // namespace

Clusters::Clusters(const DomainTools& tools)
    : tools_(tools),
      board_(tools.board, tools.feed, incidents::holds_of(tools.incidents)),
      tasks_(tools.runtime.executor()) {}

/// A cluster above its members.
void Clusters::depend(const config::Config& config, judge::incident::Dependencies& known) {
  known.listed["cluster"] = known.listed["member"] = "cluster";
  for (const config::Cluster& cluster : config.clusters) {
    const std::string node = serve::cluster_node(cluster.name);
    judge::incident::CheckPlace& place = known.checks[cluster.name];
    place.owner = node;
    place.has_findings = true;
    known.graph.add(node, "cluster");
    for (const config::Member& member : cluster.members)
      known.graph.add(serve::member_node(cluster.name, member.name), "member", {node});
  }
}

/// Which servers were alive beside another of their address cannot be seen again when one is down.
Task<Result<void>> Clusters::recall() {
  const auto records = co_await tools_.records.load(std::string(store::kBesideKey));
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, text] : *records) {
    const auto beside = store::decode_servers(text, "", {});
    if (!beside) {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      tools_.plans.doubt_orders("it is not known which servers of one address were alive at once");
      continue;
    }
    for (const judge::raft::Sighting& seen : *beside)
      sightings_.saw_beside(seen.cluster, seen.server, seen.address);
  }
  written_beside_ = sightings_.beside();
  co_return Result<void>();
}

/// Each agent keeps what all have seen of it.
void Clusters::keep_beside() {
  const std::string key(store::kBesideKey);
  if (written_beside_ != sightings_.beside()) {
    written_beside_ = sightings_.beside();
    tools_.records.put(key, store::encode_servers(written_beside_));
    owes_ = true;
    tools_.plans.owe(key, true);
  } else if (owes_ && !tools_.records.owes(key)) {
    owes_ = false;
    tools_.plans.owe(key, false);
  }
}

Result<Domain::Adopt> Clusters::prepare(const config::Config&) {
  return [this](const config::Config& now, const config::ReloadPlan& plan) { adopt(now, plan); };
}

const observe::ProbeKind& Clusters::kind() const noexcept {
  return config::cluster_kind();
}

/// Checks of the kind `ovn` look at servers, too.
void Clusters::observed(const std::string& check, const judge::Observation& seen) {
  if (const auto* const opinion = std::get_if<judge::raft::Opinion>(&seen.facts))
    sightings_.hear(looker(check), *opinion);
}

std::vector<serve::Route> Clusters::routes() {
  return {serve::members_route(&tools_.renderer)};
}

Task<void> Clusters::stop() {
  co_await tasks_.stop();
}

void Clusters::adopt(const config::Config& now, const config::ReloadPlan& plan) {
  board_.reload(now, plan, tools_.runtime.now());
  expect_looks(now, plan);
  repairs_.clear();
  for (const config::Cluster& cluster : now.clusters) repairs_[cluster.name] = repair_of(cluster);
  const auto before = std::exchange(watches_, {});
  std::vector<bool> kept(before.size());
  for (std::size_t i = 0; i < plan.clusters.size(); ++i) {
    const auto [action, was] = plan.clusters[i];
    if (action == config::ReloadAction::kKept) {
      kept[was] = true;
      before[was]->move_to(i);
      watches_.push_back(before[was]);
      continue;
    }
    watches_.push_back(begin(now.clusters[i], i));
    if (action == config::ReloadAction::kRetimed) watches_.back()->inherit(*before[was]);
    if (action == config::ReloadAction::kBegun) follow_on(*watches_.back(), before);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!kept[i]) before[i]->retire();
  }
}

/// A cluster that is called otherwise from now on is known as before.
void Clusters::follow_on(ClusterWatch& begun,
                         std::span<const std::shared_ptr<ClusterWatch>> before) const {
  for (const std::shared_ptr<ClusterWatch>& earlier : before) {
    const bool ends = !repairs_.contains(earlier->name());
    if (ends && begun.looks_at_the_same(*earlier)) return begun.inherit(*earlier);
  }
}

/// Who begins to look may be answered by any server until he was.
void Clusters::expect_looks(const config::Config& now, const config::ReloadPlan& plan) {
  std::set<std::string> lookers;
  const auto expect = [&](std::string by, const std::string& database, bool begins,
                          const config::Schedule& looks) {
    if (begins) sightings_.forget(by);
    sightings_.expect(by, database, looks.every + looks.timeout);
    lookers.insert(std::move(by));
  };
  for (std::size_t i = 0; i < now.clusters.size(); ++i) {
    const config::Cluster& cluster = now.clusters[i];
    const bool begins = plan.clusters[i].action != config::ReloadAction::kKept;
    for (const config::Member& member : cluster.members) {
      expect(judge::raft::Sightings::member(cluster.name, member.name),
             cluster.expectation.database, begins, cluster.schedule);
    }
  }
  for (std::size_t i = 0; i < now.checks.size(); ++i) {
    const config::Check& check = now.checks[i];
    if (check.kind->name != kCheckKind) continue;
    expect(looker(check.name), "", plan.checks[i].action == config::ReloadAction::kBegun,
           check.schedule);
  }
  for (const std::string& by : std::exchange(lookers_, lookers)) {
    if (!lookers.contains(by)) sightings_.forget(by);
  }
}

std::shared_ptr<ClusterWatch> Clusters::begin(const config::Cluster& cluster, std::size_t index) {
  const auto watch = std::make_shared<ClusterWatch>(tools_.runtime, board_, tools_.scheduler,
                                                    tools_.guard, sightings_, index, cluster);
  watch->on_judged([this](ClusterWatch& judged, std::span<const judge::Finding> findings) {
    measure(board_.cluster(judged.index()));
    keep_beside();
    const auto repair = repairs_.find(judged.name());
    const bool cares = tools_.plans.cares_for({judge::ThingKind::kCluster, judged.name()});
    if (repair == repairs_.end() || !cares) return;
    tools_.plans.heard(
        std::make_shared<judge::raft::repair::RaftRemedy>(repair->second, judged.repair_view()),
        findings);
  });
  const Result<void> added = tools_.scheduler.add(
      {cluster.name, cluster.schedule.every, cluster.schedule.timeout},
      [watch](runtime::Deadline deadline, Duration) { return watch->round(deadline); });
  check(added.has_value(), "the schedule of a valid configuration");
  watch->watch_changes(tasks_);
  return watch;
}

void Clusters::measure(const serve::ClusterView& judged) {
  Archive& archive = tools_.archive;
  Duration longest{};
  for (std::size_t i = 0; i < judged.opinions.size(); ++i) {
    const judge::raft::Opinion& opinion = judged.opinions[i];
    const std::string subject = judged.id.name + "/" + opinion.member;
    const Duration took = opinion.ended - opinion.begun;
    longest = std::max(longest, took);
    archive.measure(subject, judged.assessment.members.at(i).outcome, took);
    if (!opinion.status) continue;
    const judge::raft::Status& status = *opinion.status;
    const std::uint64_t entries = status.log_next - std::min(status.log_start, status.log_next);
    const store::Measured values[] = {
        {store::Measure::kLogEntries, static_cast<std::int64_t>(entries)},
        {store::Measure::kUncommitted, static_cast<std::int64_t>(status.uncommitted)},
        {store::Measure::kUnapplied, static_cast<std::int64_t>(status.unapplied)}};
    archive.samples().add(subject, values);
  }
  archive.measure(judged.id.name, outcome_of(judged.assessment.verdict), longest);
}

}  // namespace wardmote::agent
