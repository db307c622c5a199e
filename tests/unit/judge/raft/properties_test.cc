// What must hold whatever happens to a cluster: random faults, one after the other, judged all the
// way.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>

#include <rapidcheck/gtest.h>

#include "base/format.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

enum class Fault {
  kRefuse,
  kHang,
  kVanish,
  kDeny,
  kStarve,
  kIsolate,
  kHeal,
  kElect,
  kCampaign,
  kFail,
  kWipe,
  kKick,
  kAddPhase,
  kStandalone,
  kRebootstrap,
  kSlowTimer,
  kFlappingLink,
  kStranger,
  kCount,
};

struct Step {
  Fault fault;
  std::size_t node;
  int seconds;
};

void showValue(const Step& step, std::ostream& out) {
  constexpr const char* kNames[] = {
      "refuse", "hang",       "vanish",      "deny",       "starve",        "isolate",
      "heal",   "elect",      "campaign",    "fail",       "wipe",          "kick",
      "add",    "standalone", "rebootstrap", "slow timer", "flapping link", "stranger"};
  out << kNames[static_cast<int>(step.fault)] << " " << step.node << " for " << step.seconds << "s";
}

rc::Gen<std::vector<Step>> any_faults() {
  const auto fault = rc::gen::map(rc::gen::inRange(0, static_cast<int>(Fault::kCount)),
                                  [](int i) { return Fault(i); });
  return rc::gen::scale(
      0.25,
      rc::gen::container<std::vector<Step>>(rc::gen::map(
          rc::gen::tuple(fault, rc::gen::inRange<std::size_t>(0, 9),
                         rc::gen::element(0, 1, 2, 5, 12)),
          [](const auto& t) { return Step{std::get<0>(t), std::get<1>(t), std::get<2>(t)}; })));
}

class RandomCluster {
 public:
  explicit RandomCluster(std::size_t size) : size_(size), cluster(size) {}

  void strike_with(const Step& step) {
    const std::size_t i = step.node % size_;
    Node& node = cluster.node(i);
    switch (step.fault) {
      case Fault::kRefuse: cluster.kill(i); break;
      case Fault::kHang: cluster.kill(i, ReasonCode::kHung); break;
      case Fault::kVanish: cluster.kill(i, ReasonCode::kUnreachable); break;
      case Fault::kDeny: node.silence = ReasonCode::kDenied; break;
      case Fault::kStarve: node.silence = ReasonCode::kProberStarved; break;
      case Fault::kIsolate: cluster.isolate(i); break;
      case Fault::kHeal: heal(i); break;
      case Fault::kElect: cluster.elect(i); break;
      case Fault::kCampaign:
        node.role = Role::kCandidate;
        node.election_begun = cluster.now();
        ++node.term;
        break;
      case Fault::kFail:
        node.standing = Standing::kFailed;
        cluster.isolate(i);  // it takes no part in raft any more
        break;
      case Fault::kWipe: wipe(i); break;
      case Fault::kKick: cluster.strike(i); break;
      case Fault::kAddPhase:
        cluster.enlist(i, Phase::kAddingCatchup);
        node.standing = Standing::kJoining;
        break;
      case Fault::kStandalone:
        node.mode = Mode::kStandalone;
        cluster.isolate(i);
        break;
      case Fault::kRebootstrap:
        wipe(i);
        node.cluster_id = node.id;
        cluster.isolate(i);
        break;
      case Fault::kSlowTimer: node.election_timer = 4s; break;
      case Fault::kFlappingLink: {
        const Node& other = cluster.node((i + 1) % size_);
        node.links = {{short_name(other.id), true, node.disconnections % 2 == 0},
                      {short_name(other.id), false, true}};
        ++node.disconnections;
        break;
      }
      case Fault::kStranger: node.links.push_back({"0000", false, true}); break;
      case Fault::kCount: break;
    }
  }

  /// Whether the process of node `i` runs as a member of the cluster and hears it.
  [[nodiscard]] bool lives(std::size_t i) {
    const Node& node = cluster.node(i);
    const bool dead = node.silence == ReasonCode::kRefused || node.silence == ReasonCode::kHung ||
                      node.silence == ReasonCode::kUnreachable;
    return !dead && node.mode == Mode::kClustered && node.standing != Standing::kFailed;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void heal(std::size_t i) {
    cluster.heal(i);
    Node& node = cluster.node(i);
    node.standing = Standing::kMember;
    node.mode = Mode::kClustered;
    node.cluster_id = *parse_member_id("b563dad3-5d5e-4b38-a150-859542fb32c9");
    cluster.enlist(i);
  }
  void wipe(std::size_t i) {
    cluster.node(i).id =
        *parse_member_id(fmt::format("{:04x}{:028x}", 0xa000 + wiped_, wiped_ + 1));
    cluster.enlist(i);
    ++wiped_;
  }

  std::size_t size_;
  std::size_t wiped_ = 0;

 public:
  FakeCluster cluster;
};

std::vector<const Advice*> kicks_in(const Assessment& assessment) {
  std::vector<const Advice*> kicks;
  for (const Finding& finding : assessment.findings) {
    if (finding.advice && !finding.advice->command.empty()) kicks.push_back(&*finding.advice);
  }
  return kicks;
}

RC_GTEST_PROP(AnyCluster, TheOrderOfTheMembersChangesNothing, ()) {
  RandomCluster random(*rc::gen::inRange<std::size_t>(1, 7));
  const std::vector<Step> steps = *any_faults();
  std::vector<std::size_t> order(random.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shuffle_by =
      *rc::gen::container<std::vector<unsigned>>(random.size(), rc::gen::arbitrary<unsigned>());
  std::ranges::sort(order, {}, [&](std::size_t i) { return shuffle_by[i]; });

  Memory straight;
  Memory shuffled;
  for (const Step& step : steps) {
    random.strike_with(step);
    for (int second = 0; second <= step.seconds; ++second) {
      random.cluster.watch(1s);
      const std::vector<Opinion> opinions = random.cluster.opinions();
      std::vector<Opinion> permuted;
      for (const std::size_t i : order) permuted.push_back(opinions[i]);
      const TimePoint now = random.cluster.now() + 900ms;
      const Assessment a = assess(opinions, random.cluster.expectation, straight, now);
      const Assessment b = assess(permuted, random.cluster.expectation, shuffled, now);
      RC_ASSERT(a.findings == b.findings);
      RC_ASSERT(a.observed == b.observed);
      RC_ASSERT(a.verdict == b.verdict);
      RC_ASSERT(a.quorum.live == b.quorum.live);
      RC_ASSERT(a.leader.has_value() == b.leader.has_value());
      if (a.leader) RC_ASSERT(opinions[*a.leader].member == permuted[*b.leader].member);
      for (std::size_t i = 0; i < order.size(); ++i) {
        RC_ASSERT(b.members[i].outcome == a.members[order[i]].outcome);
        RC_ASSERT(b.members[i].reason == a.members[order[i]].reason);
      }
    }
  }
}

RC_GTEST_PROP(AnyCluster, NoAdviceRemovesALiveMemberOrLosesQuorum, ()) {
  RandomCluster random(*rc::gen::inRange<std::size_t>(1, 7));
  const std::vector<Step> steps = *any_faults();
  for (const Step& step : steps) {
    random.strike_with(step);
    for (int second = 0; second <= step.seconds; ++second) {
      const Assessment look = random.cluster.watch(1s);
      for (const Advice* kick : kicks_in(look)) {
        const MemberId target = *parse_member_id(kick->command.back());
        std::size_t voters = 0;
        std::size_t live = 0;
        for (const Server& server : random.cluster.list()) {
          if (compatible(server.id, target) || server.phase != Phase::kNone) continue;
          ++voters;
          for (std::size_t i = 0; i < random.size(); ++i)
            live += compatible(random.cluster.node(i).id, server.id) && random.lives(i);
        }
        for (std::size_t i = 0; i < random.size(); ++i) {
          RC_ASSERT(!compatible(random.cluster.node(i).id, target) || !random.lives(i));
        }
        RC_ASSERT(live >= voters / 2 + 1);
        RC_ASSERT(look.leader.has_value());
        RC_ASSERT(!kick->run_on.empty());
      }
    }
  }
}

/// Some servers are configured nowhere, and every line of every list tells an age of its own.
void tell_random_ages(FakeCluster& cluster) {
  const auto ages = *rc::gen::container<std::vector<int>>(
      128, rc::gen::element(0, 300, 1741, 5000, 60'000, 3'600'000));
  cluster.edit = [ages](std::vector<Opinion>& all) {
    std::size_t next = 0;
    for (Opinion& opinion : all) {
      if (!opinion.status) continue;
      for (Server& line : opinion.status->servers)
        if (!line.self) line.last_message = Milliseconds(ages[next++ % ages.size()]);
    }
  };
}

bool is_heard(const std::vector<Opinion>& all, const MemberId& id) {
  return std::ranges::any_of(all, [&](const Opinion& opinion) {
    if (compatible(opinion.server_id(), id)) return true;
    return opinion.status && std::ranges::any_of(opinion.status->servers, [&](const Server& line) {
             return !line.self && compatible(line.id, id) && line.last_message &&
                    *line.last_message <= 2s;
           });
  });
}

RC_GTEST_PROP(AnyCluster, NobodyWhomAnyWitnessHearsIsNamedForRemoval, ()) {
  const std::size_t size = *rc::gen::inRange<std::size_t>(2, 7);
  FakeCluster cluster(size);
  cluster.expectation.gone_after = 0s;
  for (std::size_t i = 1; i < size; ++i) {
    cluster.node(i).configured = *rc::gen::inRange(0, 4) != 0;
    if (*rc::gen::inRange(0, 4) == 0) cluster.kill(i);
  }
  tell_random_ages(cluster);
  const Assessment look = cluster.watch(60s);
  std::vector<Opinion> seen = cluster.opinions();
  cluster.edit(seen);
  for (const Advice* kick : kicks_in(look)) {
    if (std::ranges::find(kick->command, "cluster/kick") == kick->command.end()) continue;
    RC_ASSERT(!is_heard(seen, *parse_member_id(kick->command.back())));
  }
  for (const RepairServer& server : cluster.repair_view().servers) {
    if (!server.objection) RC_ASSERT(!is_heard(seen, server.id));
  }
}

RC_GTEST_PROP(AnyCluster, OneMoreDeathNeverTurnsCriticalIntoSomethingBetter, ()) {
  RandomCluster random(*rc::gen::inRange<std::size_t>(1, 7));
  for (const Step& step : *any_faults()) random.strike_with(step);
  const Assessment before = random.cluster.watch(60s);
  random.cluster.kill(*rc::gen::inRange<std::size_t>(0, random.size()));
  const Assessment after = random.cluster.watch(60s);
  if (before.verdict == Verdict::kCritical) RC_ASSERT(after.verdict == Verdict::kCritical);
}

RC_GTEST_PROP(AnyCluster, MemoryIsBoundedAndForgets, ()) {
  RandomCluster random(*rc::gen::inRange<std::size_t>(1, 7));
  for (const Step& step : *any_faults()) {
    random.strike_with(step);
    random.cluster.watch(std::chrono::seconds(step.seconds));
    const std::size_t things = random.size() + random.cluster.list().size();
    const std::size_t history = 200 * things + 64;
    RC_ASSERT(random.cluster.memory().size() <= 8 * things + 10 + history);
    RC_ASSERT(random.cluster.memory().history().size() <= history);
  }
  FakeCluster fresh(random.size());
  random.cluster.list() = fresh.list();
  for (std::size_t i = 0; i < random.size(); ++i) random.cluster.node(i) = fresh.node(i);
  random.cluster.watch(2s);
  const std::size_t size_finding = random.size() == 1 || random.size() % 2 == 0 ? 1 : 0;
  const Memory& memory = random.cluster.memory();
  RC_ASSERT(memory.size() - memory.history().size() == 2 * random.size() + size_finding);
}

}  // namespace
}  // namespace wardmote::judge::raft
