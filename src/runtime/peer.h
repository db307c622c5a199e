#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wardmote::runtime {

/// Who is at the other end of a stream, as far as it can be verified.
struct Peer {
  /// The process that connected to a unix socket, as the kernel reports it (unix(7) SO_PEERCRED,
  /// SO_PEERGROUPS).
  struct Process {
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::int32_t id = 0;
    std::vector<std::uint32_t> groups;  ///< supplementary
  };

  std::optional<Process> process;
  std::string address;  ///< TCP: `10.0.0.7:41234`; otherwise empty
  /// TLS: the names in a client certificate that was verified, `cn:agent-1`, `dns:…`, `ip:…`,
  /// `uri:…`, `email:…`; empty: there was none.
  std::vector<std::string> certificate_names;
};

}  // namespace wardmote::runtime
