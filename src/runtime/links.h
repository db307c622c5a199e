#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace wardmote::runtime {

/// The address of a service, which moves from host to host with it.
struct VirtualAddress {
  std::string address;  ///< numeric, IPv4 or IPv6 without brackets
  std::uint8_t prefix = 32;
  std::string interface;  ///< `eth0`
  friend bool operator==(const VirtualAddress&, const VirtualAddress&) = default;
};

/// The addresses of this host (netlink, `rtnetlink(7)`). No call waits for anybody but the kernel.
/// Thread: the core loop.
class Links {
 public:
  Links() = default;
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  virtual ~Links() = default;

  /// Whether any interface of this host has the address; true when that cannot be found out.
  virtual bool has(const std::string& address) = 0;
  /// Gives the interface the address for `valid`, or prolongs it to that. The kernel takes it away
  /// by itself when nobody prolongs it, a second and a quarter late at most: also when this process
  /// is stopped or dead. kMissing: there is no such interface. kDenied: CAP_NET_ADMIN is missing.
  virtual Result<void> hold(const VirtualAddress& address, std::chrono::seconds valid) = 0;
  /// Takes it away at once. One that is not there is no error.
  virtual Result<void> drop(const VirtualAddress& address) = 0;
  /// Tells the neighbours on the link that the address is here now: a gratuitous ARP (RFC 5227 3)
  /// or an unsolicited neighbour advertisement (RFC 4861 7.2.6). kDenied: CAP_NET_RAW is missing.
  virtual Result<void> announce(const VirtualAddress& address) = 0;
};

}  // namespace wardmote::runtime
