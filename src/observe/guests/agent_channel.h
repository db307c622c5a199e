#pragma once

#include <string>

#include "codec/domain_xml.h"
#include "judge/guest/facts.h"

namespace wardmote::observe::guests {

/// The channel of a guest for its agent, as its description says. `pattern`: as Masakari's monitor
/// finds it, by the path of its socket (may have `*`); empty: by the name of its target. A guest
/// that is off has a channel without a state.
judge::guest::Channel channel_of(const codec::DomainXml& xml, const std::string& pattern);

}  // namespace wardmote::observe::guests
