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

/// Runtime::knock for a TCP endpoint. The connection is reset as soon as the other side has
/// accepted it, so that neither side keeps a trace of it: a server that has not yet taken it off
/// its queue mostly never sees it.
runtime::Task<Result<void>> knock_tcp(Core* core, runtime::Endpoint to, runtime::Deadline deadline);

}  // namespace wardmote::net
