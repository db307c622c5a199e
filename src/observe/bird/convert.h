#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "codec/bird.h"
#include "judge/bgp/facts.h"

namespace wardmote::observe::bird {

/// What the replies say about BGP. Rows of other protocols are left out.
judge::bgp::BgpFacts to_facts(codec::BirdStatus status, codec::BirdProtocols protocols);

/// How long before the daemon's clock `now` (`2026-11-20 07:56:39.291`) something happened:
/// `07:55:55.155` today or yesterday, `2026-11-20`, or both. A date without a time counts as its
/// midnight. Nothing when a text is not understood, or is later than `now`.
std::optional<Duration> age_of(std::string_view since, std::string_view now) noexcept;

}  // namespace wardmote::observe::bird
