#pragma once

#include "base/time.h"
#include "config/config.h"

namespace wardmote::config {

/// How long after a start everything that is watched has been looked at so often that a storm would
/// show.
Duration quiet_after_start(const config::Config& config) noexcept;

}  // namespace wardmote::config
