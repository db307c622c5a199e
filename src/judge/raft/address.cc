#include "judge/raft/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::judge::raft {
namespace {

std::string_view without_scheme(std::string_view address) noexcept {
  std::string_view place = trim(address);
  if (!consume_prefix(place, "tcp:")) consume_prefix(place, "ssl:");
  return place;
}

std::string normal_host(std::string_view host) {
  in6_addr six{};
  char text[INET6_ADDRSTRLEN] = {};
  std::string normal(host);
  if (::inet_pton(AF_INET6, normal.c_str(), &six) != 1) {
    if (normal.ends_with('.')) normal.pop_back();
    std::ranges::transform(normal, normal.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return normal;
  }
  const bool holds_four = IN6_IS_ADDR_V4MAPPED(&six);
  const void* const bytes = holds_four ? &six.s6_addr[12] : &six.s6_addr[0];
  return ::inet_ntop(holds_four ? AF_INET : AF_INET6, bytes, text, sizeof(text));
}

}  // namespace

std::string_view host_of(std::string_view address) noexcept {
  std::string_view host = trim(address);
  if (host.starts_with("unix:")) return host;
  if (!consume_prefix(host, "tcp:")) consume_prefix(host, "ssl:");
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  const std::size_t colon = host.rfind(':');
  const bool bare_v6 = colon != std::string_view::npos && host.find(':') != colon;
  return colon == std::string_view::npos || bare_v6 ? host : host.substr(0, colon);
}

std::string normal_address(std::string_view address) {
  std::string_view place = trim(address);
  const std::string_view host = host_of(place);
  if (host.empty() || host == place) return std::string(place);
  const auto at = static_cast<std::size_t>(host.data() - place.data());
  std::string_view before = place.substr(0, at);
  std::string_view after = place.substr(at + host.size());
  const std::string normal = normal_host(host);
  if (consume_prefix(after, "]")) before.remove_suffix(1);
  const bool brackets = normal.contains(':');
  return fmt::format("{}{}{}{}{}", before, brackets ? "[" : "", normal, brackets ? "]" : "", after);
}

bool means(std::string_view hint, std::string_view address) noexcept {
  if (hint == address) return true;
  if (hint.starts_with("unix:") || address.starts_with("unix:")) return false;
  const std::string_view wanted = without_scheme(hint);
  const std::string_view place = without_scheme(address);
  return !wanted.empty() && (wanted == place || wanted == host_of(address));
}

}  // namespace wardmote::judge::raft
