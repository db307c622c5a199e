#pragma once

#include <string_view>

namespace wardmote::judge::raft {

/// The host of a raft address: `tcp:10.0.0.1:6643` and `ssl:[fe80::1]:6643` give the bare IP; an
/// address without a host (`unix:/run/a.raft`) is returned as it is. Points into `address`.
std::string_view host_of(std::string_view address) noexcept;

/// Whether an expected address means this raft address, both in their normal form: the same host
/// and port, whatever the scheme (a cluster may change from tcp: to ssl:), or a bare host, as in
/// kube-ovn's NODE_IPS.
bool means(std::string_view hint, std::string_view address) noexcept;

}  // namespace wardmote::judge::raft
