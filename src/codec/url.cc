#include "codec/url.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr std::size_t kLongestHost = 253;

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};
constexpr Scheme kSchemes[] = {{"http", 80}, {"https", 443}};

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

const Scheme* find_scheme(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kSchemes, name, &Scheme::name);
  return found == std::end(kSchemes) ? nullptr : found;
}

bool is_host(std::string_view host, bool bracketed) noexcept {
  const auto fits = [&](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return word || std::string_view(bracketed ? ":.%-_" : ".-_").contains(c);
  };
  return !host.empty() && host.size() <= kLongestHost && std::ranges::all_of(host, fits);
}

std::unexpected<Error> no_url(std::string_view text, std::string_view why) {
  return fail(Errc::kInvalid, "url '{}': {}", escape_control(text, 128), why);
}

/// Parses `host[:port]` into `url`.
bool read_authority(std::string_view authority, Url& url) {
  std::string_view host = authority;
  std::string_view port;
  const bool bracketed = authority.starts_with('[');
  const std::size_t host_end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed) {
    if (host_end == std::string_view::npos) return false;
    host = authority.substr(1, host_end - 1);
    port = authority.substr(host_end + 1);
  } else if (host_end != std::string_view::npos) {
    host = authority.substr(0, host_end);
    port = authority.substr(host_end);
  }
  url.host = lower(host);
  if (!is_host(url.host, bracketed)) return false;
  if (port.empty() || port == ":") return true;
  if (!consume_prefix(port, ":")) return false;
  const auto number = parse_number<std::uint16_t>(port);
  if (!number || *number == 0) return false;
  url.port = *number;
  return true;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const bool printable = std::ranges::all_of(text, [](char c) { return c > 0x20 && c != 0x7f; });
  if (text.size() > kLongest || !printable)
    return no_url(text, "too long, or with characters that must be percent-encoded");
  const std::size_t colon = text.find("://");
  const Scheme* const scheme =
      colon == std::string_view::npos ? nullptr : find_scheme(lower(text.substr(0, colon)));
  if (scheme == nullptr) return no_url(text, "it begins with neither http:// nor https://");
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  Url url{std::string(scheme->name), {}, scheme->port, std::string(rest.substr(path))};
  const std::string_view authority = rest.substr(0, path);
  if (authority.contains('@')) return no_url(text, "a user or password does not belong here");
  if (!read_authority(authority, url)) return no_url(text, "no host, or no port from 1 to 65535");
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Result<Url> resolve(const Url& base, std::string_view location) {
  if (location.starts_with("//")) return parse_url(base.scheme + ":" + std::string(location));
  const std::size_t colon = location.find_first_of(":/?#");
  if (colon != std::string_view::npos && location[colon] == ':') return parse_url(location);
  const std::string root = to_string(Url{base.scheme, base.host, base.port, ""});
  if (location.starts_with('/')) return parse_url(root + std::string(location));
  const std::string_view path = std::string_view(base.target).substr(0, base.target.find('?'));
  if (location.starts_with('?')) return parse_url(fmt::format("{}{}{}", root, path, location));
  return parse_url(fmt::format("{}{}{}", root, path.substr(0, path.rfind('/') + 1), location));
}

std::string to_string(const Url& url) {
  const bool bracketed = url.host.contains(':');
  return fmt::format("{}://{}{}{}:{}{}", url.scheme, bracketed ? "[" : "", url.host,
                     bracketed ? "]" : "", url.port, url.target);
}

std::string host_header(const Url& url) {
  const bool bracketed = url.host.contains(':');
  const Scheme* const scheme = find_scheme(url.scheme);
  std::string host = bracketed ? "[" + url.host + "]" : url.host;
  if (scheme == nullptr || scheme->port != url.port) host += fmt::format(":{}", url.port);
  return host;
}

}  // namespace wardmote::codec
