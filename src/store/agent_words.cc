#include "store/agent_words.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "judge/incident/incident.h"
#include "store/agent_record.h"
#include "store/clock_pair.h"

namespace wardmote::store {

using judge::incident::Symptom;

namespace {

/// An agent speaks for its own checks only. What is common to all has the same name everywhere.
bool may_name(const std::string& node, std::string_view thing) {
  // Of nodes the leader tells.
  if (thing.starts_with("node:")) return false;
  if (!thing.starts_with("check:")) return true;
  return thing.ends_with("@" + node);
}

}  // namespace

void AgentWords::set_back() noexcept {
  ++history_;
  set_back_ = agents_.empty();
}

void AgentWords::read(const std::string& node, const std::string& text, const ClockPair& clock,
                      Agent& agent) {
  agent.text = text;
  auto word = decode_word(text, clock);
  if (!word) {
    // What it said before stands: an answer that cannot be read is no good news.
    log(LogLevel::kError, "record_not_understood", {{"key", escape_control(symptoms_key(node))}});
    return;
  }
  agent.word = *std::move(word);
  std::erase_if(agent.word.symptoms, [&](const Symptom& one) {
    return !may_name(node, one.owner) || !may_name(node, one.component);
  });
  for (Symptom& symptom : agent.word.symptoms)
    std::erase_if(symptom.above, [&](const std::string& one) { return !may_name(node, one); });
  agent.news = true;
}

std::vector<std::string> AgentWords::take(const std::map<std::string, Stored>& stored,
                                          const ClockPair& clock) {
  std::uint64_t newest = 0;
  for (const auto& [node, record] : stored) {
    Agent& agent = agents_[node];
    agent.present = record.present;
    if (!record.text.empty() && record.text != agent.text) read(node, record.text, clock, agent);
    newest = std::max(newest, agent.word.history.value_or(0));
  }
  // Who had read nothing does not know which one was the last. If others have begun the next one
  // already, one more does no harm.
  if (!stored.empty() && std::exchange(set_back_, false)) ++newest;
  history_ = std::max(history_, newest);
  std::vector<std::string> heard;
  for (auto& [node, agent] : agents_) {
    if (!agent.news || is_doubted(agent)) continue;
    agent.news = false;
    agent.said = agent.word.symptoms;
    heard.push_back(node);
  }
  return heard;
}

bool AgentWords::is_doubted(const Agent& agent) const noexcept {
  // Who counts none is believed while it is there.
  return agent.word.history.value_or(agent.present ? history_ : 0) < history_;
}

bool AgentWords::is_doubted(const std::string& node) const {
  const auto found = agents_.find(node);
  return found != agents_.end() && is_doubted(found->second);
}

const std::vector<Symptom>& AgentWords::said(const std::string& node) const {
  static const std::vector<Symptom> kNothing;
  const auto found = agents_.find(node);
  // Also what was heard here itself: this agent may have been cut off when its next word came.
  const bool known = found != agents_.end() && !is_doubted(found->second);
  return known ? found->second.said : kNothing;
}

const std::map<std::string, std::size_t>& AgentWords::checks(const std::string& node) const {
  static const std::map<std::string, std::size_t> kNone;
  const auto found = agents_.find(node);
  return found == agents_.end() ? kNone : found->second.word.checks;
}

std::optional<std::set<std::string>> AgentWords::watches(const std::string& node) const {
  const auto found = agents_.find(node);
  return found == agents_.end() ? std::nullopt : found->second.word.watches;
}

}  // namespace wardmote::store
