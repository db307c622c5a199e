#include "runtime/endpoint.h"

#include "base/text.h"

namespace wardmote::runtime {
namespace {

Result<Endpoint> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(Errc::kInvalid, "address '{}': no port", text);
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return fail(Errc::kInvalid, "address '{}': the port is not 1 to 65535", text);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.contains(':')) {
    return fail(Errc::kInvalid, "address '{}': write an IPv6 address in brackets", text);
  }
  if (host.empty()) return fail(Errc::kInvalid, "address '{}': no host", text);
  return Endpoint::tcp(std::string(host), *port);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view rest = text;
  if (consume_prefix(rest, "unix:") || rest.starts_with('/')) {
    if (rest.empty()) return fail(Errc::kInvalid, "address '{}': no path", text);
    // sun_path of sockaddr_un: 108 bytes with the terminating zero.
    if (rest.size() > 107) return fail(Errc::kInvalid, "address '{}': a socket path has at most 107 bytes", text);
    return Endpoint::unix_socket(std::string(rest));
  }
  consume_prefix(rest, "tcp:");
  return parse_host_port(rest);
}

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::kUnix) return "unix:" + endpoint.path;
  if (endpoint.host.contains(':')) return fmt::format("tcp:[{}]:{}", endpoint.host, endpoint.port);
  return fmt::format("tcp:{}:{}", endpoint.host, endpoint.port);
}

}  // namespace wardmote::runtime
