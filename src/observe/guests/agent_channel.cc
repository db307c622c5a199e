#include "observe/guests/agent_channel.h"

#include <algorithm>
#include <string>

#include "codec/domain_xml.h"
#include "judge/guest/facts.h"
#include "judge/notify/matcher.h"

namespace wardmote::observe::guests {

using judge::guest::Channel;

namespace {

/// The first channel with a source, which must be bound there.
const codec::DomainChannel* channel_at(const codec::DomainXml& xml, const std::string& pattern) {
  const auto first = std::ranges::find_if(
      xml.channels, [](const codec::DomainChannel& one) { return !one.source_path.empty(); });
  const bool fits = first != xml.channels.end() && first->source_mode == "bind" &&
                    judge::notify::like(pattern, first->source_path);
  return fits ? &*first : nullptr;
}

}  // namespace

Channel channel_of(const codec::DomainXml& xml, const std::string& pattern) {
  const codec::DomainChannel* const channel =
      pattern.empty() ? xml.agent() : channel_at(xml, pattern);
  if (channel == nullptr) return Channel::kNone;
  if (channel->state == "connected") return Channel::kConnected;
  return channel->state == "disconnected" ? Channel::kDisconnected : Channel::kUnknown;
}

}  // namespace wardmote::observe::guests
