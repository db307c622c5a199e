#pragma once

#include <cstdint>
#include <string_view>

namespace wardmote {

/// FNV-1a over 64 bits: the same on every machine and in every version. Tells texts apart, but does
/// not protect against deliberate collisions. `from` is the hash of the preceding text.
constexpr std::uint64_t fnv1a(std::string_view text,
                              std::uint64_t from = 0xcbf29ce484222325) noexcept {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return from;
}

}  // namespace wardmote
