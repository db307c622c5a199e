#pragma once

#include <string_view>

namespace wardmote {

/// `0.1.0`, from CMake.
constexpr std::string_view kVersion = WARDMOTE_VERSION;

}  // namespace wardmote
