#include "agent/ovn/shared_servers.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/raft/sighting.h"
#include "store/agent_record.h"

namespace wardmote::agent {

std::string SharedServers::told() const {
  return store::encode_servers(sightings_.here());
}

void SharedServers::hear(const std::string& node, const std::string& text, TimePoint now) {
  if (text.empty()) {
    // It is there, and tells nothing: it has just begun, or the store takes nothing from it.
    heard_.erase(node);
    return sightings_.hear_agent(node, {{.by = "the agent on " + node}});
  }
  std::string& heard = heard_[node];
  if (heard == text) return;
  heard = text;
  auto servers = store::decode_servers(text, "the agent on " + node, now);
  if (servers) return sightings_.hear_agent(node, *std::move(servers));
  // What it said before stands: whom somebody saw is not removed for a record that is not
  // understood.
  log(LogLevel::kError, "record_not_understood",
      {{"key", escape_control(store::note_key(node, name()))}});
}

void SharedServers::lose(const std::string& node, const std::string& last, TimePoint now) {
  heard_.erase(node);
  sightings_.lose_agent(node, now);
  if (std::exchange(left_[node], last) == last) return;
  // Who began after it had gone has nobody else who saw it.
  const auto servers = store::decode_servers(last, "", now);
  if (servers) sightings_.hear_beside(*servers);
}

void SharedServers::doubt(const std::string& node, const std::string&, TimePoint) {
  heard_.erase(node);
  sightings_.hear_agent(node, {{.by = "one of two agents called " + node}});
}

}  // namespace wardmote::agent
