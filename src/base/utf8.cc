#include "base/utf8.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace wardmote {

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t find_non_text(std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = decode_utf8(bytes.substr(at));
    const bool is_layout = point.value == '\t' || point.value == '\n' || point.value == '\r';
    if (point.length == 0 || (point.value < 0x20 && !is_layout) || point.value == 0x7f) return at;
    at += point.length;
  }
  return std::string_view::npos;
}

}  // namespace wardmote
