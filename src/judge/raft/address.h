#pragma once

#include <string_view>

namespace wardmote::judge::raft {

/// The host of a raft address: `tcp:10.0.0.1:6643` and `ssl:[fe80::1]:6643` give the bare IP; what
/// has no host
/// (`unix:/run/a.raft`) is itself. Points into `address`.
std::string_view host_of(std::string_view address) noexcept;

}  // namespace wardmote::judge::raft
