#pragma once

#include <string_view>

namespace wardmote::serve {

// The files of src/serve/page/, built into the program by cmake/embed.cmake.
extern const std::string_view kPageHtml;
extern const std::string_view kPageJs;
extern const std::string_view kPageCss;

}  // namespace wardmote::serve
