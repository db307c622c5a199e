#include "serve/access.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "codec/digest.h"
#include "runtime/http.h"
#include "runtime/peer.h"
#include "serve/answer.h"
#include "serve/role.h"

namespace wardmote::serve {
namespace {

using runtime::HttpRequest;
using runtime::Peer;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return result;
}

std::expected<Who, Stranger> by_token(const AccessRules& rules, std::string_view authorization) {
  const std::string_view scheme = take_until(authorization, ' ');
  if (lower(scheme) != "bearer") return std::unexpected(Stranger{"only bearer tokens are known"});
  const std::string_view text = trim(authorization);
  if (text.size() > Token::kMost) return std::unexpected(Stranger{"the token is not known"});
  const codec::Sha256 digest = codec::sha256(text);
  const Token* found = nullptr;
  // Compares with all tokens, so that the time tells nothing.
  for (const Token& token : rules.tokens) {
    if (codec::equal_in_constant_time(token.digest, digest)) found = &token;
  }
  if (found == nullptr) return std::unexpected(Stranger{"the token is not known"});
  return Who{"token:" + found->name, found->role, false};
}

std::optional<Who> by_certificate(const AccessRules& rules, const Peer& peer) {
  std::optional<Who> best;
  for (const std::string& name : peer.certificate_names) {
    const auto rule = rules.certificates.find(name);
    if (rule == rules.certificates.end()) continue;
    if (!best || rule->second > best->role) best = Who{"certificate:" + name, rule->second, false};
  }
  return best;
}

Role role_of(const std::map<std::uint32_t, Role>& rules, std::uint32_t id) {
  const auto rule = rules.find(id);
  return rule == rules.end() ? Role::kNone : rule->second;
}

Who by_process(const AccessRules& rules, const Peer::Process& process) {
  // The mode of the socket has let the caller in.
  Role role = std::max(Role::kViewer, role_of(rules.users, process.user));
  role = std::max(role, role_of(rules.groups, process.group));
  for (const std::uint32_t group : process.groups)
    role = std::max(role, role_of(rules.groups, group));
  return {fmt::format("user:{}", process.user), role, false};
}

bool is_address(std::string_view host) {
  if (host.starts_with('[')) return host.ends_with(']');
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  });
}

/// The `host` of `host:port` or `[::1]:port`.
std::string_view without_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  if (colon == std::string_view::npos) return authority;
  if (bracket != std::string_view::npos && colon < bracket) return authority;
  return authority.substr(0, colon);
}

}  // namespace

std::expected<Who, Stranger> identify(const AccessRules& rules, const HttpRequest& request) {
  const std::string_view authorization = header(request, "authorization");
  if (!authorization.empty()) return by_token(rules, authorization);
  if (std::optional<Who> who = by_certificate(rules, request.peer)) return *std::move(who);
  if (request.peer.process) return by_process(rules, *request.peer.process);
  return Who{"anonymous", rules.anonymous, true};
}

bool names_this_host(const AccessRules& rules, std::string_view host_header) {
  std::string host = lower(without_port(trim(host_header)));
  if (host.ends_with('.')) host.pop_back();
  if (is_address(host) || host == "localhost" || host.ends_with(".localhost")) return true;
  return std::ranges::find(rules.hosts, host) != rules.hosts.end();
}

bool from_another_site(const HttpRequest& request) {
  if (header(request, "sec-fetch-site") == "cross-site") return true;
  std::string_view origin = header(request, "origin");
  if (origin.empty()) return false;
  const bool has_scheme = consume_prefix(origin, "http://") || consume_prefix(origin, "https://");
  return !has_scheme || lower(origin) != lower(trim(header(request, "host")));
}

}  // namespace wardmote::serve
