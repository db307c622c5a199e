#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

/// An absolute URL of a web server (RFC 3986), without user and fragment.
struct Url {
  std::string scheme;  ///< `http` or `https`
  std::string host;    ///< lower case; IPv6 without brackets
  std::uint16_t port = 80;
  std::string target;  ///< path and query, with the leading slash
  friend bool operator==(const Url&, const Url&) = default;
};

/// kInvalid says what is wrong: an unknown scheme, a user, invalid characters.
Result<Url> parse_url(std::string_view text);

/// The target of a `Location` that came from `base` (RFC 3986 5.2, without dot segments, which the
/// server resolves itself).
Result<Url> resolve(const Url& base, std::string_view location);

/// `http://[::1]:9099/readiness`; always with the port.
std::string to_string(const Url& url);

/// The value of a request's `Host` header.
std::string host_header(const Url& url);

}  // namespace wardmote::codec
