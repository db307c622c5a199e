#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/check_machine.h"

namespace wardmote::judge {

// What a Kubernetes Node says of what runs on it, for the scheduler and for those who repair nodes:
// conditions as node-problem-detector writes them, true when something is wrong.

/// A check of this agent, as far as a condition needs it.
struct CheckFact {
  std::string_view name;
  std::string_view kind;  ///< of its probe
  CheckState state;
  bool optional = false;
  std::string_view reason;  ///< of the last look, escaped
};

enum class ConditionStatus : std::uint8_t { kFalse, kTrue, kUnknown };
/// `True`, as Kubernetes has it.
std::string_view to_string(ConditionStatus status) noexcept;

struct NodeCondition {
  std::string type;  ///< `BGPUnhealthy`
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;   ///< one word, for programs
  std::string message;  ///< for people
  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

/// One for each group of checks of which there is one that counts. Only a failure that is confirmed
/// makes it true, since pods are moved away for it; one that is not yet known keeps it unknown, and
/// a warning changes nothing.
std::vector<NodeCondition> node_conditions(std::span<const CheckFact> checks);

/// Whether an agent of ours wrote a condition with this reason.
bool is_ours(std::string_view type, std::string_view reason) noexcept;

/// Whether its writer has said that he ends.
bool is_goodbye(std::string_view reason) noexcept;

/// All of them with a status that nobody knows any more, because the agent ends.
void forget(std::span<NodeCondition> conditions);

}  // namespace wardmote::judge
