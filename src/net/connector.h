#pragma once

#include <memory>

#include "base/result.h"
#include "net/core.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"

namespace wardmote::net {

/// Runtime::connect on the real network. A unix socket whose queue is full (its server is stopped
/// or drowning) is asked again until the deadline: that server is hung, not down. A name with
/// several addresses is tried in the resolver's order.
runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect_stream(Core* core,
                                                                       runtime::Endpoint to,
                                                                       runtime::Deadline deadline);

}  // namespace wardmote::net
