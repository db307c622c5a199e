#include "codec/journal.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::codec {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_field_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  if (name.front() == '_' || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::ranges::all_of(
      name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

std::string format_journal(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string entry;
  for (const auto& [name, value] : fields) {
    if (!is_field_name(name)) continue;
    entry += name;
    const bool one_line =
        std::ranges::none_of(value, [](char c) { return static_cast<std::uint8_t>(c) < ' '; });
    if (one_line) {
      entry += '=';
    } else {
      entry += '\n';
      for (unsigned shift = 0; shift < 64; shift += 8) {
        entry += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> shift & 0xffU);
      }
    }
    entry += value;
    entry += '\n';
  }
  return entry;
}

}  // namespace wardmote::codec
