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
    heard_.erase(node);
    return sightings_.lose_agent(node, now);
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

}  // namespace wardmote::agent
