#pragma once

#include "agent/config/config.h"
#include "base/time.h"

namespace wardmote::agent {

/// How long after a start everything that is watched has been looked at so often that a storm would
/// show.
Duration quiet_after_start(const config::Config& config) noexcept;

}  // namespace wardmote::agent
