#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace wardmote {

/// Several texts in one block of memory, for objects of which there are ten thousands: as many
/// strings would take 32 bytes each before they hold anything. All texts together have less than 4
/// GiB.
template <std::size_t Count>
class TextRow {
 public:
  explicit TextRow(const std::array<std::string_view, Count>& texts) {
    Ends ends{};
    std::uint32_t end = 0;
    for (std::size_t i = 0; i < Count; ++i)
      ends[i] = end += static_cast<std::uint32_t>(texts[i].size());
    bytes_ = std::make_unique_for_overwrite<char[]>(sizeof(Ends) + end);
    std::memcpy(bytes_.get(), ends.data(), sizeof(Ends));
    char* to = bytes_.get() + sizeof(Ends);
    for (const std::string_view text : texts) {
      text.copy(to, text.size());
      to += text.size();
    }
  }

  /// Valid as long as the row.
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    const Ends ends = this->ends();
    const std::uint32_t begin = index == 0 ? 0 : ends[index - 1];
    return {bytes_.get() + sizeof(Ends) + begin, ends[index] - begin};
  }
  /// The bytes that this takes in memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return sizeof(Ends) + ends().back(); }

 private:
  using Ends = std::array<std::uint32_t, Count>;

  [[nodiscard]] Ends ends() const noexcept {
    Ends ends;
    std::memcpy(ends.data(), bytes_.get(), sizeof(Ends));
    return ends;
  }

  std::unique_ptr<char[]>
      bytes_;  // where each text ends, then the texts; a moved-from row has none
};

}  // namespace wardmote
