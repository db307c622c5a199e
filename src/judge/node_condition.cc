#include "judge/node_condition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "judge/check_machine.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

/// Kubernetes allows 32,768 bytes; a line is for people.
constexpr std::size_t kLongestMessage = 1000;
constexpr std::string_view kNotKnown = "NotKnown";
constexpr std::string_view kAgentEnded = "AgentEnded";

struct Group {
  std::string_view type;
  std::string_view good;  ///< the reason while nothing is wrong
  std::string_view bad;
  std::array<std::string_view, 5> kinds;  ///< of checks
};
constexpr auto kGroups = std::to_array<Group>({
    {"OVNDatabaseUnhealthy",
     "OVNDatabaseHealthy",
     "OVNDatabaseFails",
     {"cluster", "ovn", "failover_pair"}},
    {"OVNDaemonUnhealthy",
     "OVNDaemonsHealthy",
     "OVNDaemonFails",
     {"northd", "ovn_controller", "vswitchd", "ovn_host"}},
    {"BGPUnhealthy", "BGPHealthy", "BGPFails", {"bird", "frr", "bgp_mesh"}},
    {"EtcdUnhealthy", "EtcdHealthy", "EtcdFails", {"etcd", "etcd_cluster"}},
    {"ServiceUnhealthy",
     "ServicesHealthy",
     "ServiceFails",
     {"runit", "s6", "daemontools", "systemd", "process"}},
});

bool belongs(const CheckFact& check, const Group& group) {
  return !check.kind.empty() && std::ranges::find(group.kinds, check.kind) != group.kinds.end();
}

ConditionStatus status_of(const CheckState& state) noexcept {
  if (state.blind || state.state == State::kDiscovery) return ConditionStatus::kUnknown;
  return state.state == State::kReported ? ConditionStatus::kTrue : ConditionStatus::kFalse;
}

/// The last look said so, too.
bool is_good(const CheckState& state) noexcept {
  return state.state == State::kHealthy &&
         (state.last == Outcome::kOk || state.last == Outcome::kWarn);
}

/// What is wrong weighs most, and then what nobody knows.
int weight(ConditionStatus status) noexcept {
  switch (status) {
    case ConditionStatus::kFalse: return 0;
    case ConditionStatus::kUnknown: return 1;
    case ConditionStatus::kTrue: return 2;
  }
  return 1;
}

std::string message_of(const std::vector<const CheckFact*>& checks, ConditionStatus status) {
  const bool good = status == ConditionStatus::kFalse;
  if (good && std::ranges::all_of(checks, [](const auto* check) { return is_good(check->state); }))
    return fmt::format("{} check{} good", checks.size(), checks.size() == 1 ? " is" : "s are");
  std::string text = good ? "no failure is confirmed" : "";
  for (const CheckFact* const check : checks) {
    if (status_of(check->state) != status || (good && is_good(check->state))) continue;
    std::string_view why = check->reason;
    if (why.empty()) why = status == ConditionStatus::kTrue ? "it fails" : "it is not known yet";
    const std::string one = fmt::format("{}{}: {}", text.empty() ? "" : "; ", check->name, why);
    if (text.size() + one.size() > kLongestMessage) return text + "; and more";
    text += one;
  }
  return text;
}

std::string_view reason_of(const Group& group, ConditionStatus status) noexcept {
  switch (status) {
    case ConditionStatus::kFalse: return group.good;
    case ConditionStatus::kTrue: return group.bad;
    case ConditionStatus::kUnknown: break;
  }
  return kNotKnown;
}

}  // namespace

std::string_view to_string(ConditionStatus status) noexcept {
  switch (status) {
    case ConditionStatus::kFalse: return "False";
    case ConditionStatus::kTrue: return "True";
    case ConditionStatus::kUnknown: break;
  }
  return "Unknown";
}

std::vector<NodeCondition> node_conditions(std::span<const CheckFact> checks) {
  std::vector<NodeCondition> conditions;
  for (const Group& group : kGroups) {
    std::vector<const CheckFact*> own;
    ConditionStatus worst = ConditionStatus::kFalse;
    for (const CheckFact& check : checks) {
      if (!belongs(check, group) || !counts(check.state, check.optional)) continue;
      own.push_back(&check);
      worst = std::max(worst, status_of(check.state),
                       [](ConditionStatus a, ConditionStatus b) { return weight(a) < weight(b); });
    }
    if (own.empty()) continue;
    conditions.push_back({.type = std::string(group.type),
                          .status = worst,
                          .reason = std::string(reason_of(group, worst)),
                          .message = message_of(own, worst)});
  }
  return conditions;
}

bool is_ours(std::string_view type, std::string_view reason) noexcept {
  const auto* const group = std::ranges::find(kGroups, type, &Group::type);
  return group != kGroups.end() && (reason == group->good || reason == group->bad ||
                                    reason == kNotKnown || reason == kAgentEnded);
}

bool is_goodbye(std::string_view reason) noexcept {
  return reason == kAgentEnded;
}

void forget(std::span<NodeCondition> conditions) {
  for (NodeCondition& condition : conditions) {
    condition.status = ConditionStatus::kUnknown;
    condition.reason = kAgentEnded;
    condition.message = "the agent of Wardmote on this node was ended";
  }
}

}  // namespace wardmote::judge
