#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace wardmote::codec {

using Sha256 = std::array<std::uint8_t, 32>;

/// FIPS 180-4. Not in constant time; nothing here depends on that.
Sha256 sha256(std::string_view bytes) noexcept;
/// RFC 2104 with SHA-256.
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);
/// Lower case.
std::string hex(const Sha256& digest);

}  // namespace wardmote::codec
