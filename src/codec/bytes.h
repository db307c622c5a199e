#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace wardmote::codec {

/// The integer in the first sizeof(T) bytes of `bytes`, most significant first. Precondition:
/// `bytes` has that many.
template <std::unsigned_integral T>
constexpr T big_endian(std::string_view bytes) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>((value << 8) | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

/// As big_endian(), least significant first.
template <std::unsigned_integral T>
constexpr T little_endian(std::string_view bytes) noexcept {
  T value = 0;
  for (std::size_t i = sizeof(T); i > 0; --i) {
    value = static_cast<T>((value << 8) | static_cast<unsigned char>(bytes[i - 1]));
  }
  return value;
}

}  // namespace wardmote::codec
