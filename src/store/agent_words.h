#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge/incident/incident.h"
#include "store/agent_record.h"
#include "store/clock_pair.h"

namespace wardmote::store {

/// What the agents of a store say is wrong, as far as it is to be believed. When an older copy is
/// put in the place of the store, what that has of an agent is older than what the agent said last.
/// So each agent writes with its word the number of the history in which it lives, which is the
/// highest that it has read; who notices that the store was set back begins the next. A word of an
/// earlier history is doubted until its agent writes again, also one that was heard before: who was
/// cut off for a while has not heard the last one. A value type without I/O.
class AgentWords {
 public:
  struct Stored {
    std::string text;  ///< the record; empty: there is none
    bool present = false;
  };

  /// The store was set back: what it has now is of an earlier history.
  void set_back() noexcept;
  /// All records as they are stored now, by node; of a node without one the last stands. Returns
  /// those whose word is another than before.
  std::vector<std::string> take(const std::map<std::string, Stored>& stored,
                                const ClockPair& clock);
  void forget(const std::string& node) { agents_.erase(node); }

  /// To be written with the own word.
  [[nodiscard]] std::uint64_t history() const noexcept { return history_; }
  /// What the agent said last; nothing while that is doubted.
  [[nodiscard]] const std::vector<judge::incident::Symptom>& said(const std::string& node) const;
  [[nodiscard]] const std::map<std::string, std::size_t>& checks(const std::string& node) const;
  /// The names of its checks, if it tells them.
  [[nodiscard]] std::optional<std::set<std::string>> watches(const std::string& node) const;
  [[nodiscard]] bool is_doubted(const std::string& node) const;

 private:
  struct Agent {
    std::string text;
    AgentWord word;
    bool present = false;
    bool news = false;  ///< `word` is not what `said` is of
    std::vector<judge::incident::Symptom> said;
  };

  [[nodiscard]] bool is_doubted(const Agent& agent) const noexcept;
  static void read(const std::string& node, const std::string& text, const ClockPair& clock,
                   Agent& agent);

  std::map<std::string, Agent> agents_;
  std::uint64_t history_ = 0;
  bool set_back_ = false;  ///< before anything was read of the history that ended
};

}  // namespace wardmote::store
