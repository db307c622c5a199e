#include "codec/raft_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

/// Of `tcp:HOST:PORT` and `ssl:[HOST]:PORT`, without the brackets; empty: it has none.
std::string_view host_in(std::string_view place) noexcept {
  if (!consume_prefix(place, "tcp:") && !consume_prefix(place, "ssl:")) return {};
  if (consume_prefix(place, "[")) {
    const std::size_t end = place.find(']');
    return end == std::string_view::npos ? std::string_view() : place.substr(0, end);
  }
  const std::size_t colon = place.find(':');
  const bool one = colon != std::string_view::npos && place.rfind(':') == colon;
  return one ? place.substr(0, colon) : std::string_view();
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

std::string normal_address(std::string_view address) {
  std::string_view place = trim(address);
  const std::string_view host = host_in(place);
  if (host.empty()) return std::string(place);
  const auto at = static_cast<std::size_t>(host.data() - place.data());
  std::string_view before = place.substr(0, at);
  std::string_view after = place.substr(at + host.size());
  const std::string normal = normal_host(host);
  if (consume_prefix(after, "]")) before.remove_suffix(1);
  const bool brackets = normal.contains(':');
  return fmt::format("{}{}{}{}{}", before, brackets ? "[" : "", normal, brackets ? "]" : "", after);
}

}  // namespace wardmote::codec
