#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// A reply on a vty socket of FRR (lib/vty.c vtysh_read): text, three zero bytes, and a byte with
/// the result of the command (lib/command.h).
struct VtyReply {
  std::uint8_t status = 0;  ///< 0 success, 1 warning, 2 no such command
  std::string text;
};

/// Cuts the bytes of a vty socket into replies. Use: read bytes into room(), call received(), then
/// call next() until it has no more.
class VtyReader {
 public:
  explicit VtyReader(std::size_t reply_bytes = 4 << 20) noexcept : cap_(reply_bytes) {}

  /// The buffer for the next bytes; never empty.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole reply, or nothing until more bytes come. kProtocol for a zero byte in the text;
  /// kLimit.
  Result<std::optional<VtyReply>> next();
  [[nodiscard]] std::size_t held() const noexcept { return end_; }

 private:
  std::size_t cap_;
  std::vector<char> buffer_;
  std::size_t end_ = 0;
  std::size_t scan_ = 0;  ///< free of zero bytes up to here
};

/// One neighbour in one family of `show bgp summary json`.
struct FrrPeer {
  std::string vrf;      ///< only of a summary of all VRFs
  std::string address;  ///< or the name of an interface
  std::string family;   ///< `ipv4Unicast`
  std::optional<std::uint32_t> remote_as;
  std::optional<std::uint32_t> local_as;
  std::string state;                      ///< `Established`, `Active`, `Idle (Admin)`, …
  std::string peer_state;                 ///< `OK`, `Admin`, `Passive`, `Policy`, …
  std::optional<std::uint64_t> received;  ///< prefixes
  std::optional<std::uint64_t> sent;
  /// time since it was established; nothing for 0 and `never`
  std::optional<std::uint64_t> up_ms;
  std::optional<std::uint64_t> dropped;  ///< how often the session was lost
  friend bool operator==(const FrrPeer&, const FrrPeer&) = default;
};

struct FrrSummary {
  std::string router_id;
  std::vector<FrrPeer> peers;
  std::size_t not_understood = 0;  ///< members that are not families, peers that are not objects
  friend bool operator==(const FrrSummary&, const FrrSummary&) = default;
};

/// Reads `show bgp summary json` (bgpd/bgp_vty.c bgp_show_summary, FRR 7 to 10). kRejected with the
/// daemon's text when it answered with one (`% BGP instance not found`); kProtocol when it is not a
/// JSON object, or lists another number of peers than it claims; kLimit over 8192 peers.
/// `all_vrfs`: reads `show bgp vrf all summary json`, where the families are below their VRFs;
/// kRejected also when no VRF has a BGP instance.
Result<FrrSummary> parse_frr_summary(std::string_view text, bool all_vrfs = false);

/// Why a peer was reset last.
struct FrrReset {
  std::string vrf;
  std::string address;
  std::string why;
  friend bool operator==(const FrrReset&, const FrrReset&) = default;
};

/// Reads `show bgp summary failed json`; missing fields stay empty.
Result<std::vector<FrrReset>> parse_frr_resets(std::string_view text, bool all_vrfs = false);

}  // namespace wardmote::codec
