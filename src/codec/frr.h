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

/// A reply on a vty socket of FRR (lib/vty.c vtysh_read): text, three zero bytes, and a byte that
/// is the result of the command (lib/command.h).
struct VtyReply {
  std::uint8_t status = 0;  ///< 0 success, 1 warning, 2 no such command
  std::string text;
};

/// Cuts what comes from a vty socket into replies. Use: read bytes into room(), tell received(),
/// then call next() until it has no more.
class VtyReader {
 public:
  explicit VtyReader(std::size_t reply_bytes = 4 << 20) noexcept : cap_(reply_bytes) {}

  /// Where to put the next bytes; never empty.
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
  std::string address;  ///< or the name of an interface
  std::string family;   ///< `ipv4Unicast`
  std::optional<std::uint32_t> remote_as;
  std::optional<std::uint32_t> local_as;
  std::string state;                      ///< `Established`, `Active`, `Idle (Admin)`, …
  std::string peer_state;                 ///< `OK`, `Admin`, `Passive`, `Policy`, …
  std::optional<std::uint64_t> received;  ///< prefixes
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> up_ms;    ///< since it was established; 0 and `never` are nothing
  std::optional<std::uint64_t> dropped;  ///< how often the session was lost
  friend bool operator==(const FrrPeer&, const FrrPeer&) = default;
};

struct FrrSummary {
  std::string router_id;
  std::vector<FrrPeer> peers;
  std::size_t not_understood = 0;  ///< members that are no families, peers that are no objects
  friend bool operator==(const FrrSummary&, const FrrSummary&) = default;
};

/// Reads `show bgp summary json` (bgpd/bgp_vty.c bgp_show_summary, FRR 7 to 10). kRejected with the
/// words of the daemon when it answered with them (`% BGP instance not found`), kProtocol when it
/// is no JSON object, or claims other numbers of peers than it lists; kLimit over 8192 peers.
Result<FrrSummary> parse_frr_summary(std::string_view text);

/// Why a peer was last reset.
struct FrrReset {
  std::string address;
  std::string why;
  friend bool operator==(const FrrReset&, const FrrReset&) = default;
};

/// Reads `show bgp summary failed json`; what it does not hold is left out.
Result<std::vector<FrrReset>> parse_frr_resets(std::string_view text);

}  // namespace wardmote::codec
