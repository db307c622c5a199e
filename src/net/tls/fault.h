#pragma once

#include <optional>

#include "base/result.h"

namespace wardmote::net::tls {

/// What is known about a connection beyond OpenSSL's error.
struct Circumstances {
  std::optional<Error> distrust;  ///< why the peer's certificate is not trusted
  bool ours_was_wanted = false;   ///< the peer asked for our certificate, and there is none
};

/// Why OpenSSL gave up on a connection; empties its error queue.
Error fault_of(const Circumstances& known);

/// Whether a TLS conversation can begin with this byte (RFC 8446 5.1): a handshake or an alert.
bool begins_tls(unsigned char first_byte) noexcept;

}  // namespace wardmote::net::tls
