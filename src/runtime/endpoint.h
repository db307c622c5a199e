#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/tls.h"

namespace wardmote::runtime {

/// Where to connect or listen: a unix socket, or a TCP host and port, with or without TLS.
struct Endpoint {
  enum class Kind : std::uint8_t { kUnix, kTcp, kTls };

  Kind kind = Kind::kUnix;
  std::string path;  ///< unix: the socket file
  std::string host;  ///< tcp, tls: name or address; IPv6 without brackets
  std::uint16_t port = 0;
  std::shared_ptr<const TlsSettings> tls{};  ///< tls: null is TlsSettings{}

  static Endpoint unix_socket(std::string path) { return {Kind::kUnix, std::move(path), {}, 0}; }
  static Endpoint tcp(std::string host, std::uint16_t port) {
    return {Kind::kTcp, {}, std::move(host), port};
  }
  static Endpoint tls_over_tcp(std::string host, std::uint16_t port, TlsSettings settings);
  friend bool operator==(const Endpoint& a, const Endpoint& b) noexcept;
};

/// `unix:/run/x.sock`, `/run/x.sock`, `tcp:10.0.0.1:6641`, `tcp:[::1]:6641`, `10.0.0.1:6641`, and
/// `ssl:10.0.0.1:6641` as Open vSwitch spells TLS. kInvalid says what is wrong.
Result<Endpoint> parse_endpoint(std::string_view text);

/// The canonical spelling, accepted by parse_endpoint: `unix:/run/x.sock`, `tcp:[::1]:6641`. TLS
/// settings are not in it.
std::string to_string(const Endpoint& endpoint);

}  // namespace wardmote::runtime
