#pragma once

#include <string_view>

#include "judge/bgp/facts.h"

namespace wardmote::judge::bgp {

/// What the state and the last error of a session that is not established most likely mean, as far
/// as this end alone can know; empty when there is nothing to add.
std::string_view hint(const Session& session) noexcept;

}  // namespace wardmote::judge::bgp
