#pragma once

#include <optional>

#include "base/result.h"

namespace wardmote::net::tls {

/// What is known of a connection beyond OpenSSL's words.
struct Circumstances {
  std::optional<Error> distrust;  ///< why the peer's certificate is not to be believed
  bool ours_was_wanted = false;   ///< the peer asked for our certificate, and there is none
};

/// Why OpenSSL gave up on a connection; empties its queue of errors.
Error fault_of(const Circumstances& known);

/// Whether a first byte can begin a TLS conversation (RFC 8446 5.1): a handshake or an alert.
bool begins_tls(unsigned char first_byte) noexcept;

}  // namespace wardmote::net::tls
