#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wardmote::config {

/// A long text that is kept for who may ask, and nearly always for nobody: compressed (RFC 1950). A
/// megabyte takes about ten milliseconds to pack and two to unpack.
class PackedText {
 public:
  PackedText() = default;
  explicit PackedText(std::string_view text);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool empty() const noexcept { return length_ == 0; }
  /// What it takes in memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return packed_.capacity(); }

 private:
  std::string packed_;
  std::size_t length_ = 0;  ///< of the text
};

}  // namespace wardmote::config
