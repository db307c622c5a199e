#pragma once

#include <cstddef>
#include <string_view>

namespace wardmote {

/// RFC 3629: no overlong forms, no surrogates.
bool is_utf8(std::string_view text) noexcept;

/// Where the first byte is that no text file in UTF-8 has: a control character other than tab and
/// line ends, or a byte that is not UTF-8; `npos` if there is none.
std::size_t find_non_text(std::string_view bytes) noexcept;

}  // namespace wardmote
