#pragma once

#include <string>
#include <string_view>

namespace wardmote::cli::ocf {

/// What the agent is and takes, as `ra-api-1.dtd` wants it.
std::string metadata(std::string_view ovn_ctl);
/// How to call it.
std::string usage(std::string_view program);

}  // namespace wardmote::cli::ocf
