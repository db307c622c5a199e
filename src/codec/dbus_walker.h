#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/bytes.h"

namespace wardmote::codec {

/// Walks through marshalled values, little endian (D-Bus Specification, Marshaling). Malformed
/// input makes the walker bad, and then every value is zero or empty. Alignment counts from the
/// first of `bytes`.
class DbusWalker {
 public:
  explicit DbusWalker(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  void fail() noexcept { good_ = false; }

  void align(std::size_t to) noexcept;
  std::uint8_t byte() noexcept;
  template <class T>
  T number() noexcept {
    align(sizeof(T));
    const std::string_view taken = take(sizeof(T));
    return good_ ? little_endian<T>(taken) : T{};
  }
  std::string_view text() noexcept;
  std::string_view signature() noexcept;
  /// Begins an array whose elements are aligned to `element`; returns where the array ends.
  std::size_t array(std::size_t element) noexcept;
  /// Takes the first complete type off `types` and skips a value of it.
  void skip(std::string_view& types, int depth = 0) noexcept;

 private:
  std::string_view take(std::size_t count) noexcept;
  void skip_array(std::string_view& types, int depth) noexcept;
  void skip_members(std::string_view& types, char close, int depth) noexcept;

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace wardmote::codec
