#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace wardmote {

using Sha256 = std::array<std::uint8_t, 32>;

/// FIPS 180-4.
Sha256 sha256(std::string_view bytes) noexcept;

/// Takes the same time wherever they differ.
bool equal_in_constant_time(const Sha256& a, const Sha256& b) noexcept;

}  // namespace wardmote
