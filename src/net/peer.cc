#include "net/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "runtime/peer.h"

namespace wardmote::net {
namespace {

using runtime::Peer;

std::vector<std::uint32_t> groups_of(int socket) {
  std::vector<gid_t> groups(32);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int got = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    if (got != 0 && errno != ERANGE) return {};
    groups.resize(bytes / sizeof(gid_t));  // ERANGE: as many as it needs
    if (got == 0) return {groups.begin(), groups.end()};
  }
}

std::string spell(int family, const void* address, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
  const std::string host = family == AF_INET6 ? fmt::format("[{}]", text.data()) : text.data();
  return fmt::format("{}:{}", host, ntohs(port));
}

}  // namespace

std::optional<Peer::Process> process_behind(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer::Process{credentials.uid, credentials.gid, credentials.pid, groups_of(socket)};
}

Peer peer_of(int socket, const sockaddr_storage& address) {
  Peer peer;
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    peer.address = spell(AF_INET, &in.sin_addr, in.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    peer.address = spell(AF_INET6, &in.sin6_addr, in.sin6_port);
  } else {
    peer.process = process_behind(socket);
  }
  return peer;
}

}  // namespace wardmote::net
