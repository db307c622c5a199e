#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// Where datagrams go to.
struct DatagramTarget {
  enum class Protocol : std::uint8_t {
    kUdp,
    kPing,  ///< ICMP echo requests and their answers, without privileges (icmp(7))
  };
  enum class Family : std::uint8_t { kAny, kIpv4, kIpv6 };

  Protocol protocol = Protocol::kUdp;
  std::string host;        ///< name or address; IPv6 without brackets
  std::uint16_t port = 0;  ///< udp only
  Family family = Family::kAny;
};

/// A connected datagram socket. Datagrams from another address are reported as received, without
/// their content. Destroying it closes it. One receiver at a time.
class Datagrams {
 public:
  Datagrams() = default;
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;
  virtual ~Datagrams() = default;

  /// kRefused or kUnreachable when the peer or a router has reported that for an earlier datagram;
  /// kLimit, kExhausted. Never waits.
  virtual Result<void> send(std::string_view bytes) = 0;
  /// Receives one datagram into `into` (kept alive by the caller), cut to its size. Returns the
  /// size that the datagram had; 0 for one from another address. While datagrams are waiting, this
  /// neither waits nor lets other tasks run. kTimeout, kRefused, kUnreachable.
  virtual Task<Result<std::size_t>> receive(std::span<char> into, Deadline deadline) = 0;
  /// The address to which the name was resolved, without brackets.
  [[nodiscard]] virtual std::string address() const = 0;
};

}  // namespace wardmote::runtime
