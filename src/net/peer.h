#pragma once

#include <sys/socket.h>

#include "runtime/peer.h"

namespace wardmote::net {

/// What the kernel knows of who connected: `socket` was accepted from `address`.
runtime::Peer peer_of(int socket, const sockaddr_storage& address);

}  // namespace wardmote::net
