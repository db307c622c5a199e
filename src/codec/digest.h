#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace wardmote::codec {

using Sha256 = std::array<std::uint8_t, 32>;

/// FIPS 180-4, by nettle.
Sha256 sha256(std::string_view bytes) noexcept;

using Sha1 = std::array<std::uint8_t, 20>;

/// FIPS 180-4, by nettle. For formats that have it: it keeps nobody from making another text of the
/// same digest.
Sha1 sha1(std::string_view bytes) noexcept;

/// RFC 2104 with SHA-256, by nettle.
Sha256 hmac_sha256(std::string_view key, std::string_view bytes) noexcept;

/// Compares in constant time.
bool equal_in_constant_time(const Sha256& a, const Sha256& b) noexcept;

/// Lower case.
std::string hex(const Sha256& digest);
std::string hex(const Sha1& digest);

}  // namespace wardmote::codec
