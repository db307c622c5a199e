#include "agent/ovn/cluster_watch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/ovn/cluster_board.h"
#include "agent/scheduler.h"
#include "base/time.h"
#include "config/config.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/repair_view.h"
#include "judge/raft/sighting.h"
#include "judge/self/starvation_guard.h"
#include "observe/ovn/cluster.h"
#include "observe/ovn/member.h"
#include "observe/ovn/server_watch.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {
namespace {

using judge::raft::Opinion;
using judge::raft::Source;
using runtime::Deadline;
using runtime::Task;

/// The watches of changes begin within this time.
constexpr Duration kFirstWatches = std::chrono::seconds(1);

std::vector<observe::ovn::MemberTarget> targets_of(const config::Cluster& cluster) {
  std::vector<observe::ovn::MemberTarget> targets;
  for (const config::Member& member : cluster.members) {
    observe::ovn::MemberTarget target;
    target.name = member.name;
    target.database = cluster.expectation.database;
    target.control = member.control;
    target.ovsdb = member.ovsdb;
    target.control_command = member.control_command;
    target.ovsdb_command = member.ovsdb_command;
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

ClusterWatch::ClusterWatch(runtime::Runtime& runtime, ClusterBoard& board, Scheduler& scheduler,
                           const judge::StarvationGuard& guard, judge::raft::Sightings& sightings,
                           std::size_t index, const config::Cluster& cluster)
    : runtime_(runtime),
      board_(board),
      scheduler_(scheduler),
      guard_(guard),
      sightings_(sightings),
      index_(index),
      name_(cluster.name),
      configured_(cluster.members),
      expectation_(cluster.expectation),
      members_(runtime, targets_of(cluster)),
      opinions_(cluster.members.size()) {
  for (std::size_t i = 0; i < opinions_.size(); ++i) opinions_[i].member = cluster.members[i].name;
}

void ClusterWatch::watch_changes(runtime::TaskGroup& group) {
  group_ = &group;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const observe::ovn::MemberTarget& target = members_.member(i).target();
    if (!target.ovsdb) continue;
    watches_.push_back(std::make_unique<observe::ovn::ServerWatch>(runtime_, *target.ovsdb,
                                                                   target.database, [this] {
                                                                     if (!retired_)
                                                                       scheduler_.look_now(name_);
                                                                   }));
    watching_.push_back(group.spawn("watch " + name_ + " " + target.name,
                                    keep_watching(shared_from_this(), watches_.back().get())));
  }
}

Task<void> ClusterWatch::keep_watching(std::shared_ptr<ClusterWatch> self,
                                       observe::ovn::ServerWatch* watch) {
  // Each watch that begins has its cluster looked at: not all of them at the moment we start.
  runtime::Runtime& runtime = self->runtime_;
  const auto spread = static_cast<std::uint64_t>(kFirstWatches.count());
  const Duration wait(static_cast<Duration::rep>(runtime.random() % spread));
  co_await runtime.sleep_until(runtime.now() + wait);
  co_await watch->run();
}

bool ClusterWatch::looks_at_the_same(const ClusterWatch& other) const {
  return expectation_.database == other.expectation_.database &&
         std::ranges::any_of(configured_, [&](const config::Member& member) {
           return find_asked_alike(other.configured_, member) != nullptr;
         });
}

void ClusterWatch::inherit(ClusterWatch& earlier) {
  memory_ = std::move(earlier.memory_);
  const std::vector<config::Member>& were = earlier.configured_;
  const auto called = [](std::span<const config::Member> members, const std::string& name) {
    return std::ranges::find(members, name, &config::Member::name) != members.end();
  };
  for (std::size_t i = 0; i < configured_.size(); ++i) {
    const std::string& name = configured_[i].name;
    const config::Member* const before = find_asked_alike(were, configured_[i]);
    if (before && before->name == name)
      opinions_[i] = std::move(earlier.opinions_[static_cast<std::size_t>(before - were.data())]);
    else if (called(were, name))
      memory_.forget(name);
    else if (before && !called(configured_, before->name))
      memory_.rename(before->name, name);
  }
}

void ClusterWatch::retire() noexcept {
  retired_ = true;
  for (const runtime::TaskGroup::TaskId task : watching_) group_->cancel(task);
  watching_.clear();
}

Task<void> ClusterWatch::round(Deadline deadline) {
  awaited_ = opinions_.size();
  patient_ = true;
  observe::ovn::Cluster::Heard hear = [this](std::size_t member, Opinion opinion) {
    heard(member, std::move(opinion));
  };
  std::vector<Task<void>> tasks;
  tasks.push_back(members_.look_each(deadline, std::move(hear)));
  tasks.push_back(judge_after(runtime_.now() + kPatience));
  co_await runtime::run_all(runtime_.executor(), std::move(tasks));
}

Task<void> ClusterWatch::judge_after(TimePoint at) {
  co_await runtime_.sleep_until(at);
  if (awaited_ == 0 || retired_) co_return;
  patient_ = false;
  // Before anybody has answered there is nothing new to judge.
  if (awaited_ < opinions_.size()) judge();
}

void ClusterWatch::void_if_starved(Opinion& opinion) {
  for (Source* const source : {&opinion.status_source, &opinion.local_source}) {
    if (!failed(*source) || !scheduler_.voids(opinion.begun, source->reason)) continue;
    const auto complaint = guard_.complaint(runtime_.now());
    source->reason = {judge::ReasonCode::kProberStarved,
                      complaint.value_or("the agent was starved")};
    board_.voided();
  }
}

void ClusterWatch::heard(std::size_t member, Opinion opinion) {
  if (retired_) return;
  void_if_starved(opinion);
  board_.member_observed(index_, member, opinion);
  sightings_.hear(judge::raft::Sightings::member(name_, opinion.member), opinion);
  opinions_[member] = std::move(opinion);
  --awaited_;
  if (awaited_ == 0 || !patient_) judge();
}

void ClusterWatch::judge() {
  const TimePoint now = runtime_.now();
  memory_.set_elsewhere(
      sightings_.besides(name_, memory_.cluster_id(), now - expectation_.gone_after));
  judge::raft::Assessment assessment = assess(opinions_, expectation_, memory_, now);
  for (const judge::raft::RememberedServer& listed : memory_.list()) {
    if (listed.is_loose() && listed.id.known())
      sightings_.saw_beside(memory_.cluster_id(), listed.id, listed.address);
  }
  const bool whole = awaited_ == 0;
  const std::vector<judge::Finding> findings =
      whole && judged_ ? assessment.findings : std::vector<judge::Finding>();
  board_.cluster_judged(index_, opinions_, std::move(assessment), now, whole);
  if (whole && judged_) judged_(*this, findings);
}

judge::raft::RepairView ClusterWatch::repair_view() const {
  return judge::raft::repair_view(opinions_, expectation_, memory_, runtime_.now());
}

}  // namespace wardmote::agent
