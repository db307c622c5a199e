#include "runtime/endpoint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "runtime/tls.h"

namespace wardmote::runtime {
namespace {

constexpr std::size_t kLongestName = 253;  // RFC 1035 2.3.4, without the dots at the ends

bool is_alphanumeric(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// True for the characters of a name or an IPv4 address; in brackets for those of an IPv6 address
/// with its zone.
bool is_host(std::string_view text, bool bracketed) noexcept {
  const std::string_view punctuation = bracketed ? ":.%-_" : ".-_";
  const auto fits = [&](char c) { return is_alphanumeric(c) || punctuation.contains(c); };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, fits);
}

Result<Endpoint> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos && text.contains('/'))
    return fail(Errc::kInvalid, "address '{}': the path of a socket begins with / or unix:", text);
  if (colon == std::string_view::npos) return fail(Errc::kInvalid, "address '{}': no port", text);
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0)
    return fail(Errc::kInvalid, "address '{}': the port is not 1 to 65535", text);
  const bool bracketed = host.size() > 1 && host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.contains(':')) {
    return fail(
        Errc::kInvalid,
        "address '{}': it begins with unix:, tcp: or ssl:, and an IPv6 address is in brackets",
        text);
  }
  if (!is_host(host, bracketed))
    return fail(Errc::kInvalid, "address '{}': '{}' is not a host", text, host);
  return Endpoint::tcp(std::string(host), *port);
}

bool is_path(std::string_view text) noexcept {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

Endpoint Endpoint::tls_over_tcp(std::string host, std::uint16_t port, TlsSettings settings) {
  return {Kind::kTls,
          {},
          std::move(host),
          port,
          std::make_shared<const TlsSettings>(std::move(settings))};
}

bool operator==(const Endpoint& a, const Endpoint& b) noexcept {
  const bool same_tls = a.tls == b.tls || (a.tls && b.tls && *a.tls == *b.tls);
  return a.kind == b.kind && a.path == b.path && a.host == b.host && a.port == b.port && same_tls;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view rest = text;
  if (consume_prefix(rest, "unix:") || rest.starts_with('/')) {
    if (!is_path(rest)) return fail(Errc::kInvalid, "address '{}': no path", text);
    // sun_path of sockaddr_un: 108 bytes with the terminating zero.
    if (rest.size() > 107)
      return fail(Errc::kInvalid, "address '{}': a socket path has at most 107 bytes", text);
    return Endpoint::unix_socket(std::string(rest));
  }
  const bool tls = consume_prefix(rest, "ssl:");
  if (!tls) consume_prefix(rest, "tcp:");
  Result<Endpoint> endpoint = parse_host_port(rest);
  if (endpoint && tls) endpoint->kind = Endpoint::Kind::kTls;
  return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::kUnix) return "unix:" + endpoint.path;
  const std::string_view scheme = endpoint.kind == Endpoint::Kind::kTls ? "ssl" : "tcp";
  if (endpoint.host.contains(':'))
    return fmt::format("{}:[{}]:{}", scheme, endpoint.host, endpoint.port);
  return fmt::format("{}:{}:{}", scheme, endpoint.host, endpoint.port);
}

}  // namespace wardmote::runtime
