#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "runtime/endpoint.h"

namespace wardmote::cli {

/// Where the agent may be.
struct AgentAddress {
  std::vector<runtime::Endpoint> endpoints;  ///< tried in this order
  bool named = false;                        ///< the user named the address
  std::string token = {};                    ///< the token that shows who asks; empty: none
};

/// Where an agent has its socket unless its configuration says otherwise.
inline constexpr std::string_view kDefaultSocket = "/run/wardmote/api.sock";

/// `unix:PATH`, `HOST:PORT`, `HOST` (port 9470), `http://HOST:PORT/`, `https://HOST:PORT/`.
/// kInvalid says what is wrong.
Result<runtime::Endpoint> parse_agent_host(std::string_view text);

/// From --socket, --host, `wardmote_host` (the environment variable, may be empty), or the default
/// places, in this order.
Result<AgentAddress> agent_address(const Call& call, std::string_view wardmote_host);

}  // namespace wardmote::cli
