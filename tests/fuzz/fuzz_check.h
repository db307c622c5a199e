#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Ends the run with a reproducer when a property does not hold.
#define FUZZ_CHECK(property) \
  if (!(property)) std::abort()

namespace wardmote::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace wardmote::fuzz
