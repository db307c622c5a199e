#pragma once

#include <string_view>

namespace wardmote::serve {

/// The beginning of the agent's complaint about a full or broken disk; the reason follows.
inline constexpr std::string_view kNotWritten = "what it sees is not written down";

/// The same, when the files in its data folder are not those that it has opened.
inline constexpr std::string_view kFolderLost = "its data folder was taken away";

}  // namespace wardmote::serve
