#include "advice/world.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/oracle.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/raft/assess.h"
#include "judge/raft/repair/repair_plan.h"

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;
using judge::Code;
using judge::Finding;
using judge::plan::Effect;
using judge::plan::Policy;
using judge::raft::Expectation;

/// After the last fault, so long must everything be well before the dead must have been named.
constexpr Duration kPeace = 32min;
constexpr Duration kSettle = 3min;

std::size_t random_size(runtime::Random& random) {
  constexpr std::size_t kSizes[] = {3, 3, 3, 3, 3, 3, 5, 5, 5, 4, 2, 1};
  return kSizes[random.below(std::size(kSizes))];
}

Milliseconds random_timer(runtime::Random& random) {
  constexpr Milliseconds kTimers[] = {1000ms, 1000ms, 1000ms, 1000ms, 2000ms, 5000ms, 10'000ms};
  return kTimers[random.below(std::size(kTimers))];
}

}  // namespace

World::World(std::uint64_t seed)
    : seed_(seed),
      random_(seed),
      rare_(~seed),
      cluster_(random_size(random_), random_timer(random_), random_.chance(0.5), random_),
      ages_(!random_.chance(0.04)),
      begun_(cluster_.now()) {
  choose_stranger();
  choose_rarity();
  make_agents();
  prepare_rarity();
}

std::optional<std::string> World::play() {
  run_until(begun_ + 30s);
  const std::int64_t longest = random_.chance(0.25) ? 45 * 60 : 20 * 60;
  TimePoint quiet = cluster_.now() + between(4 * 60, longest);
  std::uint64_t happenings = 2 + random_.below(9);
  if (rarity_) {
    quiet = std::max(quiet, cluster_.now() + stage_rarity());
    happenings = rare_.below(2);
    // Nobody can know what was before he began.
    if (rarity_ == Rarity::kPutBack || rarity_ == Rarity::kTakenPath) happenings = 0;
  } else if (stranger_) {
    quiet = std::max(quiet, cluster_.now() + stage());
    happenings = random_.below(3);
  }
  for (std::uint64_t i = 0; i < happenings; ++i) {
    const Duration span = quiet - cluster_.now();
    at(Duration(random_.below(static_cast<std::uint64_t>(span.count()))), [this] { happen(); });
  }
  run_until(quiet);
  heal();
  run_until(cluster_.now() + kSettle + kPeace);
  for (const auto& agent : agents_) {
    if (!fault_) note_fault(*agent, "the end", silence_of(cluster_, *agent));
  }
  return fault_;
}

void World::run_until(TimePoint end) {
  while (cluster_.now() < end && !fault_) {
    cluster_.step();
    for (const std::string& line : std::exchange(cluster_.news, {})) tell(line);
    while (!future_.empty() && future_.begin()->first <= cluster_.now()) {
      const auto next = future_.extract(future_.begin());
      next.mapped()();
    }
    for (const auto& agent : agents_) agent->step();
  }
}

/// Whatever is not lost for good is well again.
void World::heal() {
  future_.clear();
  healed_ = true;
  cluster_.heal_network();
  cluster_.set_at_rest(false);
  tell("everything heals that is not lost for good");
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    Host& host = cluster_.host(i);
    host.stalled = false;
    if (host.gone) continue;
    host.up = true;
    cluster_.hang(i, false);
    const bool left = host.disk && cluster_.servers()[*host.disk].standing == Standing::kLeft;
    if (!host.disk && !host.damaged) {
      cluster_.join(i);
    } else if (!left && (host.process == Process::kStopped || !host.attached)) {
      cluster_.start(i);
    }
  }
  for (const auto& agent : agents_) {
    agent->thaw();
    for (Way& way : agent->setup().ways) way.cut = way.shut = way.starved = false;
  }
}

void World::at(Duration in, Happening happening) {
  future_.emplace(cluster_.now() + in, std::move(happening));
}

void World::tell(std::string_view line) {
  for (const char c : line) trace_ = (trace_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  story_.push_back(fmt::format("{:8.1f} s  {}",
                               static_cast<double>(to_ms(cluster_.now() - begun_)) / 1000, line));
}

std::string World::story() const {
  return fmt::format("{}\n", fmt::join(story_, "\n"));
}

void World::make_agents() {
  const std::size_t number = random_.chance(0.4) ? 2 : 1;
  for (std::size_t i = 0; i < number; ++i) {
    Agent::Witness witness;
    witness.judged = [this](const Agent& agent, const judge::raft::Assessment& assessment) {
      for (const Finding& finding : assessment.findings) {
        if (fault_) return;
        note_fault(agent, to_string(finding.code), fault_of(cluster_, agent, finding));
        if (fault_) tell(fmt::format("{}: {}", finding.summary, finding.advice->text));
      }
    };
    witness.planned = [this](const Agent& agent, const RepairPlan& plan) {
      note_fault(agent, plan.summary, fault_of(cluster_, plan));
    };
    witness.delayed = [this](const Agent& agent, const RepairPlan& plan, Duration time) {
      meet_delay(agent, plan, time);
    };
    witness.act = [this](const Agent& agent, const RepairPlan& plan, StepKind kind) {
      return act(agent, plan, kind);
    };
    agents_.push_back(
        std::make_unique<Agent>(make_setup(i), cluster_, random_, std::move(witness)));
  }
}

AgentSetup World::make_setup(std::size_t number) {
  AgentSetup setup;
  setup.name = fmt::format("agent {}", number + 1);
  setup.ages = ages_;
  setup.every = between(1, 10);
  if (random_.chance(0.5)) setup.home = random_.below(cluster_.hosts().size());
  // At home by the control socket, elsewhere only what the database tells over TCP.
  const bool sockets_only = setup.home && random_.chance(0.25);
  const bool no_local = random_.chance(0.1);
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    const bool home = setup.home == i;
    if (!home && random_.chance(0.15)) continue;
    Way way{.member = cluster_.hosts()[i].name, .host = i, .unix_socket = home};
    way.status = home || !sockets_only;
    way.local = !way.status || !no_local;
    if (random_.chance(0.7)) setup.rebuildable.push_back(way.member);
    setup.ways.push_back(std::move(way));
  }
  if (random_.chance(0.05)) {
    const HostIndex old = cluster_.add_host("ctl-0", "tcp:10.0.0.99:6643");
    cluster_.host(old).up = false;
    cluster_.host(old).gone = true;
    setup.ways.push_back({.member = "ctl-0", .host = old});
  }
  if (stranger_) hide_stranger(setup);
  if (random_.chance(0.05)) cross(setup);
  setup.expectation = make_expectation();
  setup.policies = make_policies(number == 0);
  std::vector<std::string> members;
  for (const Way& way : setup.ways)
    members.push_back(way.member + (way.status ? "" : " by tcp only"));
  tell(fmt::format("{} at {} looks every {} at {}; expects {}", setup.name,
                   setup.home ? cluster_.hosts()[*setup.home].name : "another host",
                   spell_duration(setup.every), fmt::join(members, ", "),
                   fmt::join(setup.expectation.addresses, ", ")));
  return setup;
}

/// Somebody copied a line, and forgot to change the address in it.
void World::cross(AgentSetup& setup) {
  if (setup.ways.size() < 2) return;
  const std::size_t which = random_.below(setup.ways.size());
  const HostIndex other = setup.ways[(which + 1) % setup.ways.size()].host;
  setup.ways[which].crossed = other;
  tell(fmt::format("{} asks {} for the database of {}", setup.name, cluster_.hosts()[other].name,
                   setup.ways[which].member));
}

Expectation World::make_expectation() {
  Expectation expectation{.database = "OVN_Northbound", .addresses = {}, .replicas = 0};
  if (random_.chance(0.35)) return expectation;
  const bool hosts_only = random_.chance(0.25);
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    if (!cluster_.hosts()[i].disk || i == stranger_) continue;
    expectation.addresses.push_back(hosts_only ? fmt::format("10.0.0.{}", i + 1)
                                               : cluster_.hosts()[i].address);
  }
  if (random_.chance(0.2)) expectation.addresses.front() = "tcp:10.0.0.77:6643";
  if (random_.chance(0.15)) expectation.addresses.pop_back();
  if (random_.chance(0.3)) expectation.replicas = cluster_.servers().size();
  return expectation;
}

std::vector<Policy> World::make_policies(bool acts) {
  Policy ghosts;
  ghosts.name = "ghosts";
  ghosts.on = {Code::kRaftStaleMember, Code::kRaftDeadMember};
  ghosts.act = acts && random_.chance(0.9);
  ghosts.sole = true;
  ghosts.approval = false;
  ghosts.after = random_.chance(0.5) ? Duration(0) : between(5, 300);
  ghosts.budget = 1 + random_.below(5);
  ghosts.cooldown = between(0, 600);
  Policy rebuild = ghosts;
  rebuild.name = "rebuild";
  rebuild.on = {Code::kRaftMemberDown, Code::kRaftJoiningStuck};
  rebuild.after = random_.chance(0.5) ? between(30, 120) : between(60, 15 * 60);
  return {ghosts, rebuild};
}

void World::note_fault(const Agent& agent, std::string_view about,
                       std::optional<std::string> fault) {
  if (!fault || fault_) return;
  fault_ = fmt::format("{}, {}: {}", agent.setup().name, about, *fault);
  tell("FAULT " + *fault_);
  const auto leader = cluster_.leader();
  if (!leader) return tell("nobody leads");
  for (const ServerIndex s : cluster_.servers()[*leader].config) {
    const Host& host = cluster_.hosts()[cluster_.servers()[s].host];
    tell(fmt::format("{} lists {} at {}, which {}", cluster_.name(*leader), cluster_.name(s),
                     host.address, cluster_.lives(s) ? "lives" : "is dead"));
  }
}

/// Does what an agent's plan orders, and answers as the command does.
Effect World::act(const Agent& agent, const RepairPlan& plan, StepKind kind) {
  note_fault(agent, fmt::format("{} ({})", to_string(kind), plan.summary),
             fault_of(cluster_, agent, plan, kind));
  tell(fmt::format("{} does {} to {}", agent.setup().name, to_string(kind), plan.summary));
  if (random_.chance(0.03)) return Effect::kNone;
  if (random_.chance(0.03)) return Effect::kUnknown;
  if (kind != StepKind::kKick) return run_there(agent, plan, kind);
  const auto target = resolve(cluster_, plan.server);
  if (!target || cluster_.kick(*target)) return Effect::kUnknown;
  return random_.chance(0.1) ? Effect::kUnknown : Effect::kDone;
}

/// The two commands that run on the member's host.
Effect World::run_there(const Agent& agent, const RepairPlan& plan, StepKind kind) {
  const auto way = std::ranges::find(agent.setup().ways, plan.member, &Way::member);
  if (way == agent.setup().ways.end()) return Effect::kNone;
  const Host& host = cluster_.hosts()[way->host];
  if (way->cut || !host.up || host.gone) return Effect::kUnknown;
  // The host says whether its server runs, and a plan for one that is down does not go on then.
  const std::optional<ServerIndex> there = cluster_.active(way->host);
  const bool joins = there && cluster_.servers()[*there].standing == Standing::kJoining;
  const bool may_run = !plan.code || (plan.code == Code::kRaftJoiningStuck && joins);
  const bool spoils = there && !may_run;
  if (kind == StepKind::kCopyDatabase) return spoils ? Effect::kUnknown : Effect::kDone;
  cluster_.wipe(way->host);
  cluster_.join(way->host);
  return random_.chance(0.1) ? Effect::kUnknown : Effect::kDone;
}

}  // namespace wardmote::advice
