#pragma once

#include <string_view>

namespace wardmote::serve {

// Files that cmake/embed.cmake builds into the program: openapi.json, and those of page/.
extern const std::string_view kOpenapi;
extern const std::string_view kPageHtml;
extern const std::string_view kPageJs;
extern const std::string_view kPageCss;

}  // namespace wardmote::serve
