#include "agents/truth.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/plan/step_executor.h"
#include "agents/fake_etcd.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/notify/notice.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair_view.h"
#include "store/agent_record.h"
#include "store/notify_record.h"
#include "store/plan_record.h"
#include "store/store.h"

namespace wardmote::agents {

using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::raft::MemberId;
using namespace std::chrono_literals;

namespace {

/// What has failed for so long is not said to be good, unless much has happened since.
constexpr Duration kLongAgo = 60s;
constexpr Duration kSettled = 40s;
constexpr std::string_view kMember = "ctl-3";

/// A copy leaves the cluster as it is, and may be made by two agents at once.
bool changes(const std::string& step) {
  return step != "copy_database";
}

MemberId id_of(std::string_view text) {
  return judge::raft::parse_member_id(text).value_or(MemberId{});
}

judge::raft::RepairServer server_of(const std::string& name, MemberId id, bool well) {
  judge::raft::RepairServer server;
  server.id = id;
  server.address = "tcp:" + name;
  server.member = name;
  server.answers = server.acknowledges = well;
  server.match_index = 10;
  if (!well) server.silent_since = TimePoint{};
  return server;
}

}  // namespace

MemberId FakeCluster::server(int fall) const {
  return id_of(fmt::format("11112222-0000-4000-8000-00000000{:04x}", fall + 16));
}

std::shared_ptr<const judge::plan::Remedy> FakeCluster::look() const {
  judge::raft::RepairView seen;
  seen.begun = world_.now();
  seen.leader = "ctl-1";
  seen.committed = 10;
  seen.servers = {server_of("ctl-1", id_of("0001"), true), server_of("ctl-2", id_of("0002"), true)};
  if (listed_) seen.servers.push_back(server_of(std::string(kMember), server(falls_ - 1), false));
  if (joined_) seen.servers.push_back(server_of(std::string(kMember), server(falls_), true));
  seen.servers.front().leads = true;
  seen.voters = seen.servers.size();
  seen.needed = seen.voters / 2 + 1;
  seen.acknowledging = seen.voters - (listed_ ? 1 : 0);
  seen.members = {
      {"ctl-1", true, false, false, id_of("0001")},
      {"ctl-2", true, false, false, id_of("0002")},
      {std::string(kMember), joined_, false, !joined_, joined_ ? server(falls_) : MemberId{}}};
  if (!joined_) seen.members.back().out_since = fell_;
  return std::make_shared<judge::raft::repair::RaftRemedy>(
      judge::raft::repair::RepairCluster{
          "ovn-nb", "OVN_Northbound", {"ctl-1", "ctl-2", std::string(kMember)}},
      std::move(seen));
}

std::vector<judge::Finding> FakeCluster::findings() const {
  if (joined_) return {};
  judge::Finding down;
  down.code = judge::Code::kRaftMemberDown;
  down.subjects = {std::string(kMember)};
  down.summary = "ctl-3 is down";
  down.since = fell_;
  return {down};
}

void FakeCluster::fall() {
  ++falls_;
  joined_ = false;
  listed_ = true;
  copies_ = 0;
  fell_ = world_.now();
}

void FakeCluster::do_it(const act::StepRequest& request) {
  if (request.step == "copy_database") ++copies_;
  if (request.step == "kick") {
    const MemberId kicked = id_of(request.plan.arg("server"));
    if (!listed_ || !judge::raft::compatible(kicked, server(falls_ - 1))) return;
    EXPECT_GT(copies_, 0) << "kicked without a copy";
    listed_ = false;
  }
  if (request.step == "rejoin") {
    EXPECT_FALSE(joined_) << "joined twice";
    EXPECT_FALSE(listed_) << "joined while it was listed";
    joined_ = true;
  }
}

Truth::Truth(sim::World& world, FakeEtcd& etcd) : cluster(world), world_(world), etcd_(etcd) {
  etcd_.listen([this](const FakeEtcd::Commit& commit) { committed(commit); });
}

void Truth::say(LifeId life, const std::string& what) const {
  static const bool tells = std::getenv("WARDMOTE_SIM_STORY") != nullptr;
  if (!tells || over_) return;
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(world_.now().time_since_epoch());
  fmt::print(stderr, "{:>10} life {:<3} {}\n", ms.count(), life, what);
}

void Truth::set(const std::string& root, bool fails) {
  fails ? (void)failing_.try_emplace(root, world_.now()) : (void)failing_.erase(root);
}

bool Truth::fails_for_long(const std::string& root) const {
  const auto found = failing_.find(root);
  return found != failing_.end() && world_.now() - found->second > kLongAgo &&
         world_.now() - disturbed_ > kSettled;
}

/// What all agents share is written by the one that leads, and what an agent says by itself.
void Truth::committed(const FakeEtcd::Commit& commit) const {
  if (over_) return;
  for (const store::KeyEvent& event : commit.events) {
    const std::string& key = event.key.key;
    if (key.starts_with("leader/") || key.starts_with(store::kAgentPrefix)) continue;
    say(commit.writer, (event.removed ? "removes " : "writes ") + key);
    EXPECT_EQ(commit.writer, commit.leader) << key << " is written by somebody who does not lead";
  }
}

void Truth::wins(LifeId life) {
  ++leads_;
  say(life, "leads");
  EXPECT_EQ(etcd_.leader(), life) << "leads out of turn";
  EXPECT_LE(leaders(), 1) << "two lead";
  happens(Point::kWins, life);
}

void Truth::tells(const Notice& notice, const Doer& doer) {
  if (over_ || dead_.contains(doer.life)) return;
  say(doer.life, "tells " + notice.key());
  EXPECT_TRUE(doer.leads) << notice.key() << " is told by who does not lead";
  EXPECT_EQ(etcd_.leader(), doer.life) << notice.key() << " is told out of turn";
  const store::KeyValue* const record = etcd_.find(store::group_key(notice.group));
  ASSERT_NE(record, nullptr) << notice.key() << " was not written down";
  const auto group = store::decode_group(record->value, doer.clock);
  ASSERT_TRUE(group) << record->value;
  EXPECT_TRUE(group->pending && group->pending->notice.number == notice.number)
      << notice.key() << " is not what is to be told";
  Message& message = messages_[notice.key()];
  const bool same_lead = message.sender == doer.life && message.lead == leads_;
  EXPECT_FALSE(same_lead && message.under_way) << notice.key() << " is told twice at once";
  EXPECT_FALSE(same_lead && !message.in_doubt) << notice.key() << " is told twice";
  in_doubt_ += message.sender != 0 ? 1 : 0;
  message.sender = doer.life;
  message.lead = leads_;
  message.under_way = true;
  happens(Point::kTells, doer.life);
}

void Truth::told(const Notice& notice, bool taken, LifeId life) {
  say(life, fmt::format("{} was {}", notice.key(), taken ? "taken" : "not taken"));
  Message& message = messages_[notice.key()];
  if (message.sender != life) return;  // another sends it again, and does not know of this answer
  message.under_way = false;
  message.in_doubt = !taken;
}

void Truth::hears(const Notice& notice) {
  if (over_) return;
  if (++messages_[notice.key()].arrived > 1) {
    ++repetitions_;
    return;
  }
  for (const NoticeItem& item : notice.items) check_item(item);
}

void Truth::check_item(const NoticeItem& item) {
  const std::int64_t id = item.incident.id;
  say(0, fmt::format("people hear: {} {} {}", id, to_string(item.kind), item.incident.root));
  bool& open = open_[id];
  switch (item.kind) {
    case NoticeKind::kOpened:
      EXPECT_FALSE(open) << id << " began twice";
      open = true;
      break;
    case NoticeKind::kResolved:
      EXPECT_TRUE(open) << id << " ended and had not begun";
      EXPECT_FALSE(fails_for_long(item.incident.root)) << item.incident.root << " is not good";
      open = false;
      break;
    case NoticeKind::kUnwatched: open = false; break;
    case NoticeKind::kBrief: EXPECT_FALSE(open) << id; break;
    case NoticeKind::kChanged:
    case NoticeKind::kOngoing: EXPECT_TRUE(open) << id << " is not known"; break;
  }
}

bool Truth::is_told(std::int64_t incident) const {
  const auto found = open_.find(incident);
  return found != open_.end() && found->second;
}

bool Truth::all_ended() const {
  return std::ranges::none_of(open_, [](const auto& each) { return each.second; });
}

void Truth::steps_in(const act::StepRequest& request, const Doer& doer, std::int64_t token) {
  if (over_ || dead_.contains(doer.life)) return;
  say(doer.life, fmt::format("steps into {} of plan {}", request.step, request.plan.id));
  EXPECT_TRUE(doer.leads) << request.step << " begun under a lost lease";
  EXPECT_EQ(etcd_.leader(), doer.life) << request.step << " begun out of turn";
  const store::KeyValue* const record = etcd_.find(store::plan_key(request.plan.id));
  ASSERT_NE(record, nullptr) << request.step << " without an intent";
  const auto plan = store::decode_plan(record->value, doer.clock);
  ASSERT_TRUE(plan) << record->value;
  const judge::plan::Step* const step = plan->current();
  const bool intended = step != nullptr && step->name == request.step &&
                        step->state == judge::plan::StepState::kBegun && plan->token == token &&
                        plan->state == judge::plan::PlanState::kRunning;
  EXPECT_TRUE(intended) << request.step << " is not what was written down: " << record->value;
  std::set<LifeId>& inside = inside_[request.step];
  inside.insert(doer.life);
  effective_[request.step].erase(doer.life);
  // A command may run on for long after it has done its work, and its agent may have ended or lost
  // the lead: the next one finds the work done. It can do no more harm.
  const auto harmful = std::ranges::count_if(
      inside, [&](LifeId life) { return !effective_[request.step].contains(life); });
  if (changes(request.step)) EXPECT_EQ(harmful, 1) << "two inside " << request.step;
  happens(Point::kActs, doer.life);
}

void Truth::steps_out(const act::StepRequest& request, LifeId life) {
  say(life, "is out of " + request.step);
  const auto inside = inside_.find(request.step);
  if (inside == inside_.end()) return;
  inside->second.erase(life);
  if (inside->second.empty()) inside_.erase(inside);
}

void Truth::does(const act::StepRequest& request, LifeId life) {
  if (over_) return;
  effective_[request.step].insert(life);
  say(0, request.step + " is done");
  cluster.do_it(request);
}

void Truth::verify() const {
  EXPECT_LE(repetitions_, in_doubt_) << "told again although it was known to be told";
}

}  // namespace wardmote::agents
