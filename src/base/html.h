#pragma once

#include <string>
#include <string_view>

namespace wardmote {

/// Text as it stands in HTML, in an attribute too. Control characters stay as they are.
std::string escape_html(std::string_view text);

}  // namespace wardmote
