#pragma once

#include "base/result.h"
#include "codec/grpc.h"

namespace wardmote::store::etcd {

/// A status other than OK as an error of the store (store.h). kClosed, kTimeout and kInternal: it
/// is not known whether a change was made.
Error error_of(const codec::GrpcStatus& status);

/// Whether the server no longer accepts the token of a user, so that a new one has to be asked for.
bool is_stale_token(const codec::GrpcStatus& status) noexcept;

}  // namespace wardmote::store::etcd
