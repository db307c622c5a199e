#pragma once

#include <sys/socket.h>

#include <optional>

#include "runtime/peer.h"

namespace wardmote::net {

/// Who is at the other end of a unix socket: the process that connected to it, or that listens on
/// it.
std::optional<runtime::Peer::Process> process_behind(int socket);

/// What the kernel knows about the process that connected: `socket` was accepted from `address`.
runtime::Peer peer_of(int socket, const sockaddr_storage& address);

}  // namespace wardmote::net
