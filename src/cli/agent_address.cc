#include "cli/agent_address.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "runtime/endpoint.h"

namespace wardmote::cli {
namespace {

using runtime::Endpoint;

constexpr std::string_view kDefaultSocket = "/run/wardmote/api.sock";
constexpr std::uint16_t kDefaultPort = 9470;

}  // namespace

Result<Endpoint> parse_agent_host(std::string_view text) {
  if (text.starts_with("https://")) {
    return fail(Errc::kInvalid, "{}: the agent speaks plain HTTP; use its unix socket or a tunnel",
                escape_control(text));
  }
  std::string_view place = text;
  if (consume_prefix(place, "http://") && place.ends_with('/')) place.remove_suffix(1);
  if (!place.empty() && place.find_first_of(":/") == std::string_view::npos) {
    return Endpoint::tcp(std::string(place), kDefaultPort);
  }
  return runtime::parse_endpoint(place);
}

Result<AgentAddress> agent_address(const Call& call, std::string_view wardmote_host) {
  if (call.has("socket") && call.has("host"))
    return fail(Errc::kInvalid, "--socket and --host name two agents");
  if (call.has("socket")) return AgentAddress{{Endpoint::unix_socket(call.value("socket"))}, true};
  const bool by_option = call.has("host");
  const std::string place = by_option ? call.value("host") : std::string(wardmote_host);
  if (!by_option && place.empty()) {
    return AgentAddress{{Endpoint::unix_socket(std::string(kDefaultSocket)),
                         Endpoint::tcp("127.0.0.1", kDefaultPort)},
                        false};
  }
  const Result<Endpoint> endpoint = parse_agent_host(place);
  if (!endpoint) return with_context(endpoint, "{}", by_option ? "--host" : "WARDMOTE_HOST");
  return AgentAddress{{*endpoint}, true};
}

}  // namespace wardmote::cli
