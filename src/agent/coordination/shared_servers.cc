#include "agent/coordination/shared_servers.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/raft/sighting.h"
#include "store/agent_record.h"
#include "store/presence.h"

namespace wardmote::agent {

SharedServers::SharedServers(std::string node, store::Presence& presence,
                             judge::raft::Sightings& sightings)
    : key_(store::servers_key(node)), presence_(presence), sightings_(sightings) {}

void SharedServers::tell() {
  std::string record = store::encode_servers(sightings_.here());
  if (record == told_) return;
  presence_.put(key_, record);
  told_ = std::move(record);
}

void SharedServers::hear(const std::string& node, const std::string& record, bool present,
                         TimePoint now) {
  if (!present || record.empty()) {
    heard_.erase(node);
    sightings_.hear_agent(node, {});
    return;
  }
  const auto before = heard_.find(node);
  if (before != heard_.end() && before->second == record) return;
  auto servers = store::decode_servers(record, "the agent on " + node, now);
  heard_[node] = record;
  if (servers) return sightings_.hear_agent(node, *std::move(servers));
  // What it said before stands: whom somebody saw is not removed for a record that is not
  // understood.
  log(LogLevel::kError, "record_not_understood",
      {{"key", escape_control(store::servers_key(node))}});
}

}  // namespace wardmote::agent
