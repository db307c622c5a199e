#include "advice/oracle.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advice/cluster.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;
using judge::Code;
using judge::Finding;
using judge::ReasonCode;
using judge::plan::PlanState;
using judge::raft::repair::Work;

/// A look may be so old when it is judged.
constexpr Duration kGrace = 20s;
/// Nobody can know of a member that came back a moment ago.
constexpr Duration kJustBack = 2s;
/// Of a server that nobody but its host can see: as long as the host's word holds, and two looks.
constexpr Duration kWordHolds = 18s;
constexpr Duration kStallShows = 2min;
/// An agent takes a voter for heard for one election round, and its look may be so old.
constexpr Duration kStillHeard = 4s;

/// Whether it is in the list that counts: the leader's, else that of the living server whose log
/// has come furthest.
bool is_listed(const Cluster& cluster, ServerIndex server) {
  std::optional<ServerIndex> newest = cluster.leader();
  for (HostIndex i = 0; i < cluster.hosts().size() && !cluster.leader(); ++i) {
    const std::optional<ServerIndex> disk = cluster.hosts()[i].disk;
    if (!disk || !cluster.lives(*disk) || cluster.servers()[*disk].alone) continue;
    if (!newest || cluster.servers()[*disk].log > cluster.servers()[*newest].log) newest = disk;
  }
  return newest && cluster.lists(*newest, server);
}

const std::string& address_of(const Cluster& cluster, ServerIndex server) {
  return cluster.hosts()[cluster.servers()[server].host].address;
}

/// The living, listed server that this name can mean, if it is said to be at this address.
std::optional<ServerIndex> find_living(const Cluster& cluster, std::string_view name,
                                       std::string_view address = {}) {
  const auto id = judge::raft::parse_member_id(name);
  if (!id || id->digits < 4) return std::nullopt;
  for (ServerIndex s = 0; s < cluster.servers().size(); ++s) {
    const bool same = compatible(cluster.servers()[s].id, *id) &&
                      (address.empty() || address == address_of(cluster, s));
    if (same && cluster.lives(s) && is_listed(cluster, s)) return s;
  }
  return std::nullopt;
}

/// Whether another server with these four digits was at the same address: lists cannot tell them
/// apart.
bool has_double(const Cluster& cluster, ServerIndex server) {
  for (ServerIndex s = 0; s < cluster.servers().size(); ++s) {
    const bool same =
        short_name(cluster.servers()[s].id) == short_name(cluster.servers()[server].id);
    if (s != server && same && address_of(cluster, s) == address_of(cluster, server)) return true;
  }
  return false;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// A server as a text names it.
struct Named {
  std::string_view id;
  std::string_view address;  ///< empty: not said
};

/// Whom a text tells somebody to remove.
std::vector<Named> kicked_by(std::string_view text) {
  std::vector<Named> all;
  for (const std::string_view word : {"Kick ", "kick ", "kicking ", "kick of "}) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      const std::string_view rest = text.substr(at + word.size());
      std::size_t digits = 0;
      while (digits < rest.size() && is_hex(rest[digits])) ++digits;
      if (digits < 4) continue;
      Named named{rest.substr(0, digits), rest.substr(digits)};
      const bool at_address = named.address.starts_with(" at tcp:");
      named.address = at_address ? named.address.substr(4) : std::string_view();
      named.address = named.address.substr(0, named.address.find(' '));
      all.push_back(named);
    }
  }
  return all;
}

std::optional<std::string> fault_of_kick(const Cluster& cluster, std::string_view id,
                                         std::string_view address = {}) {
  const auto living = find_living(cluster, id, address);
  if (!living) return std::nullopt;
  return fmt::format("it has {} removed, which lives", cluster.name(*living));
}

std::optional<std::string> fault_of_advice(const Cluster& cluster, const Finding& finding) {
  const judge::Advice& advice = *finding.advice;
  if (std::ranges::find(advice.command, "cluster/kick") != advice.command.end()) {
    if (auto fault = fault_of_kick(cluster, advice.command.back())) return fault;
  }
  for (const Named& named : kicked_by(advice.text)) {
    if (auto fault = fault_of_kick(cluster, named.id, named.address)) return fault;
  }
  if (advice.text.contains("remove its database file") || advice.text.contains("new database")) {
    for (const std::string& subject : finding.subjects) {
      const auto living = subject.size() >= 32 ? find_living(cluster, subject) : std::nullopt;
      if (living) {
        return fmt::format("it has the database of {} removed, which is a listed member",
                           cluster.name(*living));
      }
    }
  }
  return std::nullopt;
}

/// Who leads in the highest term, whether anybody acknowledges it or not.
std::optional<ServerIndex> find_leading(const Cluster& cluster) {
  std::optional<ServerIndex> leading;
  for (HostIndex i = 0; i < cluster.hosts().size(); ++i) {
    const std::optional<ServerIndex> s = cluster.active(i);
    if (!s || cluster.hosts()[i].process != Process::kRuns) continue;
    const Server& server = cluster.servers()[*s];
    if (server.role != Role::kLeader || server.alone) continue;
    if (!leading || server.term > cluster.servers()[*leading].term) leading = s;
  }
  return leading;
}

bool is_half_removed(const Server& leader, ServerIndex server) {
  return leader.change && !leader.change->adding && leader.change->server == server;
}

/// Whom the agent would have stopped or emptied, although it lives and serves the others, or holds
/// alone what they have lost.
std::optional<std::string> fault_of_farewell(const Cluster& cluster, const Agent& agent,
                                             const Finding& finding) {
  const bool out = finding.code == Code::kRaftZombieMember ||
                   (finding.advice && finding.advice->text.contains("Find out who removed it"));
  if (!out) return std::nullopt;
  const auto leader = cluster.leader();
  for (const Way& way : agent.setup().ways) {
    const std::optional<ServerIndex> s = cluster.hosts()[way.host].disk;
    if (!s || std::ranges::find(finding.subjects, way.member) == finding.subjects.end()) continue;
    if (!cluster.lives(*s)) continue;
    if (cluster.loss && cluster.loss->keeper == *s)
      return fmt::format("it calls {} removed, which alone has what was committed", way.member);
    const auto leads = find_leading(cluster);
    if (leads && is_half_removed(cluster.servers()[*leads], *s))
      return fmt::format("it calls {} removed, which is not committed", way.member);
    if (leader && cluster.lists(*leader, *s) && cluster.acknowledging(*leader, {*s}) > 0)
      return fmt::format("it calls {} removed, which serves", way.member);
  }
  return std::nullopt;
}

/// Whether an agent may still take it for one that acknowledges what the leader writes.
bool seems_able(const Cluster& cluster, ServerIndex leader, ServerIndex voter) {
  const Server& server = cluster.servers()[leader];
  // A disk that stopped taking writes a moment ago shows only when there is something to write.
  const Host& host = cluster.hosts()[cluster.servers()[voter].host];
  const bool lags = server.match[voter] < server.log;
  if (host.stalled && lags && cluster.now() - host.stalled_since >= kStallShows) return false;
  if (voter == leader) return true;
  const std::optional<TimePoint>& heard = server.heard[voter];
  return heard && cluster.now() - *heard <= cluster.election_timer() + kStillHeard;
}

/// Whether those who stay can commit the removal. A leader that cannot is still one to the agent.
std::optional<std::string> fault_of_quorum(const Cluster& cluster, ServerIndex target) {
  const auto leader = find_leading(cluster);
  if (!leader) return std::nullopt;
  if (cluster.servers()[*leader].change) return "it kicks while the list is being changed";
  std::vector<ServerIndex> rest = cluster.servers()[*leader].config;
  std::erase(rest, target);
  const auto able = static_cast<std::size_t>(
      std::ranges::count_if(rest, [&](ServerIndex s) { return seems_able(cluster, *leader, s); }));
  if (able * 2 > rest.size()) return std::nullopt;
  return fmt::format("the kick of {} spends the quorum: {} of the {} that stay acknowledge",
                     cluster.name(target), able, rest.size());
}

/// Whether no other member that the agent asks is silent too: which of two silent members is which
/// listed server, nobody can say that has not seen them live.
bool is_alone(const Cluster& cluster, const Agent& agent, ServerIndex dead) {
  return std::ranges::none_of(agent.setup().ways, [&](const Way& way) {
    return way.host != cluster.servers()[dead].host && !cluster.active(way.host);
  });
}

/// Whether two listed servers have the same four digits, and the agent asks some by TCP alone,
/// which tells no address: then it cannot know which of the two answers.
bool is_mistakable(const Cluster& cluster, const Agent& agent,
                   const std::vector<ServerIndex>& listed) {
  const auto by_tcp = [](const Way& way) { return !way.status; };
  if (std::ranges::none_of(agent.setup().ways, by_tcp)) return false;
  std::set<std::string> digits;
  return std::ranges::any_of(listed, [&](ServerIndex s) {
    return !digits.insert(short_name(cluster.servers()[s].id)).second;
  });
}

/// Whether a host says to the agent that nothing listens there, and a server lives on it, or on
/// another host as one of its address: a refusal is believed. Or the agent was given wrong sockets.
bool is_lied_to(const Cluster& cluster, const Agent& agent) {
  const std::vector<Way>& ways = agent.setup().ways;
  for (std::size_t i = 0; i < ways.size() && i < agent.opinions().size(); ++i) {
    const ReasonCode said = agent.opinions()[i].status_source.reason.code;
    const ReasonCode heard = agent.opinions()[i].local_source.reason.code;
    const auto refuses = [](ReasonCode code) {
      return code == ReasonCode::kRefused || code == ReasonCode::kMissing;
    };
    if (ways[i].crossed) return true;
    const bool none = said == ReasonCode::kUnknownCluster || heard == ReasonCode::kUnknownCluster;
    if (!refuses(said) && !refuses(heard) && !none) continue;
    for (HostIndex host = 0; host < cluster.hosts().size(); ++host) {
      const bool there = cluster.hosts()[host].address == cluster.hosts()[ways[i].host].address;
      if (there && cluster.active(host)) return true;
    }
  }
  return false;
}

std::string told(const Agent& agent) {
  std::vector<std::string> all;
  for (const Finding& finding : agent.last().findings) {
    all.push_back(fmt::format("{} ({})", to_string(finding.code), finding.summary));
  }
  return all.empty() ? "there is none" : fmt::format("{}", fmt::join(all, "; "));
}

bool names(const Finding& finding, const Cluster& cluster, const Agent& agent, ServerIndex dead) {
  const Server& server = cluster.servers()[dead];
  const Host& host = cluster.hosts()[server.host];
  const bool alone = !host.disk || host.disk == dead;
  return std::ranges::any_of(finding.subjects, [&](const std::string& subject) {
    if (subject == to_string(server.id) || subject == short_name(server.id)) return true;
    if (!alone) return false;
    if (subject == host.address) return true;
    return std::ranges::any_of(agent.setup().ways, [&](const Way& way) {
      return way.host == server.host && way.member == subject;
    });
  });
}

/// Two that live at one address and are asked by their control sockets: only one of them can listen
/// there, and the other is locked out by its next restart.
std::optional<std::string> silence_about_twins(const Cluster& cluster, const Agent& agent,
                                               const std::vector<ServerIndex>& listed) {
  const auto answers = [&](ServerIndex server) {
    const HostIndex host = cluster.servers()[server].host;
    return cluster.active(host) == server &&
           std::ranges::any_of(agent.setup().ways,
                               [&](const Way& way) { return way.host == host && way.status; });
  };
  for (const ServerIndex a : listed) {
    const bool has_twin =
        answers(a) && std::ranges::any_of(listed, [&](ServerIndex b) {
          return b != a && answers(b) && address_of(cluster, b) == address_of(cluster, a);
        });
    const auto tells = [&](const Finding& finding) {
      return finding.code == Code::kRaftStaleMember &&
             std::ranges::find(finding.subjects, address_of(cluster, a)) != finding.subjects.end();
    };
    if (has_twin && std::ranges::none_of(agent.last().findings, tells))
      return fmt::format("{} lives at the address of another, and no finding says so: {}",
                         cluster.name(a), told(agent));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ServerIndex> resolve(const Cluster& cluster, const MemberId& id) {
  const auto leader = find_leading(cluster);
  if (!leader) return std::nullopt;
  for (const ServerIndex s : cluster.servers()[*leader].config) {
    if (compatible(cluster.servers()[s].id, id)) return s;
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const Cluster& cluster, const Agent& agent,
                                    const Finding& finding) {
  const bool told_as_seen = !finding.summary.ends_with(judge::kUnconfirmed);
  // Who begins when the others have lost their leader cannot know that they had one.
  const bool unknowable = cluster.alone_since && agent.remembers_since() > *cluster.alone_since;
  if (unknowable && finding.code == Code::kRaftZombieMember) return std::nullopt;
  const auto served = cluster.served_since();
  // Whoever believes it builds a new cluster, as the page of the finding says.
  if (finding.code == Code::kRaftNoQuorum && told_as_seen && served && cluster.leader() &&
      cluster.now() - *served > kGrace && !is_lied_to(cluster, agent)) {
    return "it says that quorum is lost, while a leader commits with a majority";
  }
  if (finding.code == Code::kRaftStaleMember && told_as_seen && finding.summary.contains("ghost")) {
    for (const std::string& subject : finding.subjects) {
      const auto living = find_living(cluster, subject);
      if (!living || has_double(cluster, *living)) continue;
      // Four digits may be those of another server too; the address tells which is meant.
      const std::string& address = address_of(cluster, *living);
      if (std::ranges::find(finding.subjects, address) != finding.subjects.end())
        return fmt::format("it calls {} a ghost, which lives", cluster.name(*living));
    }
  }
  const auto is_loss = [](const Finding& other) { return other.code == Code::kRaftLogRolledBack; };
  if (cluster.loss && finding.advice && !finding.advice->text.contains("opy the databases") &&
      std::ranges::any_of(agent.last().findings, is_loss))
    return "it asks for no copy first, where one server alone has what was committed";
  if (told_as_seen) {
    if (auto fault = fault_of_farewell(cluster, agent, finding)) return fault;
  }
  return finding.advice ? fault_of_advice(cluster, finding) : std::nullopt;
}

std::optional<std::string> fault_of(const Cluster& cluster, const RepairPlan& plan) {
  const bool ready = plan.state == PlanState::kRunning || plan.reason.empty();
  if (!ready || plan.work != Work::kRemoveServer) return std::nullopt;
  // Who is told of a disk that is put in again while the plan runs is told by its next look; what
  // is done then is looked at below.
  const auto living = find_living(cluster, to_string(plan.server));
  const bool begun = plan.state == PlanState::kRunning;
  if (begun && living && cluster.hosts()[cluster.servers()[*living].host].swapped > plan.begun)
    return std::nullopt;
  return fault_of_kick(cluster, to_string(plan.server));
}

std::optional<std::string> fault_of(const Cluster& cluster, const Agent& agent,
                                    const RepairPlan& plan, StepKind act) {
  const std::optional<ServerIndex> target =
      plan.server.known() ? resolve(cluster, plan.server) : std::nullopt;
  if (act == StepKind::kKick && target) {
    if (auto fault = fault_of_quorum(cluster, *target)) return fault;
    if (plan.work == Work::kRemoveServer) return fault_of_kick(cluster, to_string(plan.server));
  }
  if (act == StepKind::kCopyDatabase) return std::nullopt;
  // A member that is rebuilt does not run. It may come back some day, but it must not be back.
  const auto way = std::ranges::find(agent.setup().ways, plan.member, &Way::member);
  if (way == agent.setup().ways.end()) return std::nullopt;
  if (act == StepKind::kKick && target && cluster.lives(*target) &&
      cluster.servers()[*target].host != way->host) {
    return fmt::format("to rebuild {}, {} is kicked, which lives elsewhere", plan.member,
                       cluster.name(*target));
  }
  if (cluster.loss && act != StepKind::kKick &&
      cluster.hosts()[way->host].disk == cluster.loss->keeper)
    return fmt::format("{} is emptied, which alone has what was committed", plan.member);
  const std::optional<ServerIndex> there = cluster.active(way->host);
  const auto leader = cluster.leader();
  if (!there || !leader || !cluster.lists(*leader, *there)) return std::nullopt;
  // Hung, cut off or unable to write: whose process runs may be well the next moment.
  const Host& host = cluster.hosts()[way->host];
  const Duration just_back = host.walled ? kWordHolds : kJustBack;
  const bool long_since = cluster.now() - host.started > just_back;
  if (long_since) return fmt::format("{} is rebuilt, which runs", cluster.name(*there));
  return std::nullopt;
}

std::optional<std::string> silence_of(const Cluster& cluster, const Agent& agent) {
  const auto leader = cluster.leader();
  if (!leader || !agent.setup().ages) return std::nullopt;
  // Who was given wrong sockets may not know whom it sees.
  if (std::ranges::any_of(agent.setup().ways,
                          [](const Way& way) { return way.crossed.has_value(); }))
    return std::nullopt;
  if (agent.setup().home && cluster.hosts()[*agent.setup().home].gone) return std::nullopt;
  // Only the leader tells who is silent: an agent that cannot ask it need not know.
  const bool asks = std::ranges::any_of(agent.setup().ways, [&](const Way& way) {
    return way.host == cluster.servers()[*leader].host && way.status;
  });
  if (!asks) return std::nullopt;
  const std::vector<ServerIndex>& listed = cluster.servers()[*leader].config;
  if (!is_mistakable(cluster, agent, listed)) {
    if (auto silence = silence_about_twins(cluster, agent, listed)) return silence;
  }
  for (const ServerIndex s : listed) {
    if (cluster.lives(s) || has_double(cluster, s) || !is_alone(cluster, agent, s)) continue;
    if (is_mistakable(cluster, agent, listed)) continue;
    const bool named = std::ranges::any_of(agent.last().findings, [&](const Finding& finding) {
      return names(finding, cluster, agent, s);
    });
    if (!named) {
      return fmt::format("{} is dead for good, and no finding names it: {}", cluster.name(s),
                         told(agent));
    }
  }
  return std::nullopt;
}

}  // namespace wardmote::advice
