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

constexpr std::uint16_t kDefaultPort = 9470;

}  // namespace

Result<Endpoint> parse_agent_host(std::string_view text) {
  std::string_view place = text;
  const bool secured = consume_prefix(place, "https://");
  const bool url = secured || consume_prefix(place, "http://");
  if (url && place.ends_with('/')) place.remove_suffix(1);
  const bool plain_host = !place.empty() && place.find_first_of(":/") == std::string_view::npos;
  Result<Endpoint> endpoint =
      plain_host ? Endpoint::tcp(std::string(place), kDefaultPort) : runtime::parse_endpoint(place);
  if (!endpoint || !secured) return endpoint;
  if (endpoint->kind != Endpoint::Kind::kTcp)
    return fail(Errc::kInvalid, "{}: write https://HOST:PORT", escape_control(text));
  return Endpoint::tls_over_tcp(endpoint->host, endpoint->port, {});
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
