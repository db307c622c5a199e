#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "serve/route.h"

namespace wardmote::serve {

/// What an agent says is wrong.
struct AgentSymptom {
  std::string component;
  std::string code;
  std::string severity;
  std::string summary;
  Duration age{};
};

/// An agent that shares the store.
struct AgentRow {
  std::string name;
  bool present = false;
  Duration since{};   ///< how long it has been so, as far as this agent has seen
  bool here = false;  ///< the agent that answers
  bool leads = false;
  bool doubted = false;  ///< the store was set back since it said anything
  std::map<std::string, std::string> labels;
  std::string release;
  std::string boot;
  std::optional<WallTime> started;
  std::vector<AgentSymptom> symptoms;  ///< as it last said
};

/// Who stands in the queue of the election, as this agent knows it.
struct ElectionState {
  struct Candidate {
    std::string name;
    std::string key;
    std::int64_t token = 0;
    bool here = false;
    bool leased = true;  ///< else it cannot lead
  };
  bool leads = false;                 ///< this agent does
  std::vector<Candidate> candidates;  ///< the leader first
  std::optional<Duration> age;        ///< since the store confirmed this; nothing: it never has
  std::optional<std::string> complaint;
};

/// The agents that share a store, as one of them knows them. Thread: the core loop.
class AgentsView {
 public:
  AgentsView() = default;
  AgentsView(const AgentsView&) = delete;
  AgentsView& operator=(const AgentsView&) = delete;
  virtual ~AgentsView() = default;

  [[nodiscard]] virtual std::vector<AgentRow> agents() const = 0;
  /// Since the store confirmed them; nothing: it never has.
  [[nodiscard]] virtual std::optional<Duration> age() const = 0;
  [[nodiscard]] virtual ElectionState election() const = 0;
};

/// /api/v1/agents and /api/v1/election. `view` outlives them; null: the agent shares no store.
std::vector<Route> agents_routes(const AgentsView* view);

}  // namespace wardmote::serve
