#include "agent/etcd/etcd_watch.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/scheduler.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/etcd_cluster.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/self/starvation_guard.h"
#include "judge/verdict.h"
#include "observe/etcd/member_client.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/etcd/etcd_view.h"
#include "serve/thing_view.h"

namespace wardmote::agent {

using incidents::Round;
using judge::Observation;
using judge::Reason;
using judge::ReasonCode;
using judge::Verdict;
using judge::etcd::MemberView;
using runtime::Deadline;
using runtime::Task;

namespace {

std::shared_ptr<serve::EtcdView> not_judged(const config::EtcdCluster& cluster, TimePoint now) {
  auto view = std::make_shared<serve::EtcdView>(cluster.name);
  view->judged = now;
  for (const config::EtcdMember& member : cluster.members) {
    MemberView& known = view->members.emplace_back();
    known.name = member.name;
  }
  return view;
}

/// Why the check stands as it does: the worst finding, or why nobody speaks.
Reason reason_of(const judge::etcd::Assessment& assessment, const std::vector<MemberView>& views) {
  if (assessment.verdict == Verdict::kOk) return {};
  if (!assessment.findings.empty()) {
    const judge::Finding& worst = assessment.findings.front();
    return {ReasonCode::kState, std::string(to_string(worst.code)) + ": " + worst.summary};
  }
  for (const MemberView& view : views) {
    if (!view.facts) return {view.reason.code, view.name + ": " + view.reason.text};
  }
  return {ReasonCode::kState, "in doubt"};
}

Round round_of(const judge::etcd::Assessment& assessment, const std::vector<MemberView>& views) {
  const bool clean = assessment.verdict == Verdict::kOk && assessment.findings.empty() &&
                     assessment.observed.empty() &&
                     std::ranges::all_of(views, [](const auto& view) { return !!view.facts; });
  return clean ? Round::kClean : Round::kOther;
}

}  // namespace

class EtcdWatch::ClusterProbe final : public observe::Probe {
 public:
  ClusterProbe(EtcdWatch& watch, std::string cluster)
      : watch_(watch), cluster_(std::move(cluster)) {}
  Task<Observation> look(Deadline deadline) override { return watch_.look(cluster_, deadline); }

 private:
  EtcdWatch& watch_;
  std::string cluster_;
};

void EtcdWatch::depend(const config::Config& config, judge::incident::Dependencies& known) {
  known.listed["etcd"] = "etcd";
  for (const config::EtcdCluster& cluster : etcd_clusters(config)) {
    judge::incident::CheckPlace& place = known.checks[cluster.name];
    place.owner = serve::etcd_node(cluster.name);
    place.has_findings = true;
    known.graph.add(place.owner, "etcd");
  }
}

Result<Domain::Adopt> EtcdWatch::prepare(const config::Config&) {
  return [this](const config::Config& now, const config::ReloadPlan& plan) { adopt(now, plan); };
}

const observe::ProbeKind& EtcdWatch::kind() const noexcept {
  return config::etcd_cluster_kind();
}

void EtcdWatch::adopt(const config::Config& now, const config::ReloadPlan&) {
  auto before = std::exchange(clusters_, {});
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  for (const config::EtcdCluster& config : etcd_clusters(now)) {
    const auto earlier = before.find(config.name);
    if (earlier != before.end() && earlier->second->config == config) {
      clusters_[config.name] = earlier->second;
      before.erase(earlier);
    } else {
      auto cluster = std::make_shared<Cluster>();
      cluster->config = config;
      for (const config::EtcdMember& member : config.members) {
        cluster->clients.push_back(std::make_unique<observe::etcd::MemberClient>(
            runtime_, member.endpoint, member.metrics));
      }
      const auto first = not_judged(config, runtime_.now());
      hold_down(first->assessment.verdict, cluster->hold.looked(holds_, config.name, Round::kPart));
      cluster->shown = first;
      clusters_[config.name] = std::move(cluster);
    }
    shown.push_back(clusters_[config.name]->shown);
  }
  for (const auto& [name, cluster] : before) cluster->retired = true;
  board_.show(judge::etcd::kEtcdKind, std::move(shown));
}

std::unique_ptr<observe::Probe> EtcdWatch::probe(const config::Check& check) {
  return std::make_unique<ClusterProbe>(*this, check.name);
}

Task<Observation> EtcdWatch::look(std::string name, Deadline deadline) {
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) {
    Observation observation;
    observation.subject = name;
    observation.begun = observation.ended = runtime_.now();
    observation.reason = {ReasonCode::kMissing, "no such cluster"};
    co_return observation;
  }
  const std::shared_ptr<Cluster> cluster = found->second;
  std::vector<MemberView> views(cluster->clients.size());
  std::vector<Task<void>> tasks;
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].name = cluster->config.members[i].name;
    MemberView* const into = &views[i];
    tasks.push_back(ask(cluster.get(), i, into, deadline));
  }
  co_await runtime::run_all(runtime_.executor(), std::move(tasks));
  co_return judge(*cluster, std::move(views));
}

Task<void> EtcdWatch::ask(Cluster* cluster, std::size_t member, MemberView* into,
                          Deadline deadline) {
  into->begun = runtime_.now();
  Result<judge::etcd::MemberFacts> facts = co_await cluster->clients[member]->look(deadline);
  into->ended = runtime_.now();
  if (facts) {
    into->reason = {};
    into->facts = *std::move(facts);
    co_return;
  }
  into->reason = observe::reason_of(facts.error());
  if (!scheduler_.voids(into->begun, into->reason)) co_return;
  into->reason = {ReasonCode::kProberStarved,
                  guard_.complaint(runtime_.now()).value_or("the agent was starved")};
  board_.voided();
}

Observation EtcdWatch::judge(Cluster& cluster, std::vector<MemberView> views) {
  const TimePoint now = runtime_.now();
  Observation observation;
  observation.subject = cluster.config.name;
  observation.begun = views.front().begun;
  observation.ended = now;
  if (cluster.retired) {
    observation.reason = {ReasonCode::kNotProbed, "the configuration has changed"};
    return observation;
  }
  const judge::etcd::Expectation expectation{cluster.config.expect, cluster.config.quota};
  const auto shown = std::make_shared<serve::EtcdView>(cluster.config.name);
  shown->judged = now;
  shown->assessment = judge::etcd::assess(views, expectation, cluster.memory, now);
  const auto held =
      cluster.hold.looked(holds_, cluster.config.name, round_of(shown->assessment, views));
  hold_down(shown->assessment.verdict, held);
  observation.outcome = outcome_of(shown->assessment.verdict);
  const bool unseen = held && shown->assessment.findings.empty();
  observation.reason = unseen ? held->reason : reason_of(shown->assessment, views);
  if (board_.doubt(observation, shown->assessment.observed))
    shown->assessment.verdict = Verdict::kUnknown;
  shown->members = std::move(views);
  cluster.shown = shown;
  board_.judged(shown, now);
  return observation;
}

}  // namespace wardmote::agent
