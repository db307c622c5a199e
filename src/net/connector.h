#pragma once

#include <memory>

#include "base/result.h"
#include "net/core.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"

namespace wardmote::net {

/// Runtime::connect on the real network. A unix socket whose queue is full (its server is stopped
/// or overloaded) is tried again until the deadline: that server is hung, not down. The addresses
/// of a name are tried in the order of the resolver.
runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect_stream(Core* core,
                                                                       runtime::Endpoint to,
                                                                       runtime::Deadline deadline);

/// Runtime::knock for a TCP endpoint. The connection is reset as soon as the other side has
/// accepted it, so that no trace of it remains on either side. A server that has not yet taken the
/// connection off its queue usually never sees it.
runtime::Task<Result<void>> knock_tcp(Core* core, runtime::Endpoint to, runtime::Deadline deadline);

}  // namespace wardmote::net
