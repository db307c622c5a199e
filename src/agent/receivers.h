#pragma once

#include "agent/config/config.h"
#include "agent/notifier.h"
#include "base/result.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"

namespace wardmote::agent {

/// The receivers of a configuration, with their secrets read from their files. kMissing, kDenied or
/// kInvalid names the file, never what is in it. `http` may be null when no receiver needs it;
/// kInvalid else. What it is given outlives the result.
Result<NotifierOptions> make_receivers(const config::Notify& notify, runtime::Runtime& runtime,
                                       runtime::HttpClient* http);

}  // namespace wardmote::agent
