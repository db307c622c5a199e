#pragma once
// What an agent says of itself to those that share the store with it. All its records are below
// `agents/NODE/`, so that a role of etcd can allow it these and no others'.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/incident/incident.h"
#include "judge/raft/sighting.h"
#include "store/clock_pair.h"

namespace wardmote::store {

inline constexpr std::string_view kAgentPrefix = "agents/";

/// Kept until somebody removes it.
std::string registration_key(std::string_view node);
/// There while the agent keeps its lease.
std::string presence_key(std::string_view node);
/// What is wrong as the agent sees it.
std::string symptoms_key(std::string_view node);
/// Of a note (store/shared_note.h).
std::string note_key(std::string_view node, std::string_view note);

enum class AgentRecordKind : std::uint8_t { kRegistration, kPresence, kSymptoms };
struct AgentKey {
  std::string_view node;  ///< within the key
  AgentRecordKind kind{};
};
/// Nothing for a key that is none of these.
std::optional<AgentKey> parse_agent_key(std::string_view key);

struct AgentRegistration {
  std::string node;
  std::map<std::string, std::string> labels;
  std::string release;  ///< of Wardmote
  std::string boot;     ///< which start of the machine it is
  WallTime since;       ///< the agent's start
};
std::string encode(const AgentRegistration& registration);
/// kProtocol when the text is not such a record; fields of later releases are passed over.
Result<AgentRegistration> decode_registration(std::string_view text);

/// What is wrong as an agent sees it.
struct AgentWord {
  std::vector<judge::incident::Symptom> symptoms;
  /// How many checks it has, by their kind: for who judges whether many of a kind fail.
  std::map<std::string, std::size_t> checks{};
  /// The owners of what it may find wrong (`check:bird@ctl-1`, `cluster:nb`); nothing: an earlier
  /// release does not say, or they are too many.
  std::optional<std::set<std::string>> watches{};
  /// The history of the store in which it was said (store/agent_words.h); nothing: by an agent that
  /// counts none.
  std::optional<std::uint64_t> history;
};
std::string encode(const AgentWord& word, const ClockPair& clock);
/// A symptom of a later release, whose code is not known here, is left out.
Result<AgentWord> decode_word(std::string_view text, const ClockPair& clock);

/// The record of the servers that were alive beside another of their address, for all agents.
inline constexpr std::string_view kBesideKey = "acts/beside";
/// Of a sighting all but `by` and `at`.
std::string encode_servers(const std::vector<judge::raft::Sighting>& servers);
/// With `by` and `at` as told. One with less than a whole id is left out, unless it has none and
/// does not answer: of a server without a database nobody knows of which one it is.
Result<std::vector<judge::raft::Sighting>> decode_servers(std::string_view text,
                                                          const std::string& by, TimePoint at);

}  // namespace wardmote::store
