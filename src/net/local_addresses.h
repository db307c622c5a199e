#pragma once

#include <string>
#include <string_view>

namespace wardmote::net {

/// Whether an interface of this host has the address (numeric; IPv6 without brackets), up or down.
/// True also for the loopback network, and when the addresses cannot be read: whoever asks must not
/// connect to itself.
bool is_own_address(std::string_view address);

}  // namespace wardmote::net
