#include "net/local_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace wardmote::net {
namespace {

bool is(const sockaddr* at, int family, const in6_addr& six, const in_addr& four) {
  if (at == nullptr || at->sa_family != family) return false;
  if (family == AF_INET6) {
    const auto* const address = reinterpret_cast<const sockaddr_in6*>(at);
    return std::memcmp(&address->sin6_addr, &six, sizeof six) == 0;
  }
  const auto* const address = reinterpret_cast<const sockaddr_in*>(at);
  return address->sin_addr.s_addr == four.s_addr;
}

}  // namespace

bool is_own_address(std::string_view address) {
  const std::string text(address);
  in6_addr six{};
  in_addr four{};
  int family = AF_UNSPEC;
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) family = AF_INET;
  if (::inet_pton(AF_INET6, text.c_str(), &six) == 1) family = AF_INET6;
  if (family == AF_UNSPEC) return false;
  constexpr unsigned kLoopback = 127;
  if (family == AF_INET && ntohl(four.s_addr) >> 24 == kLoopback) return true;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return true;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, ::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (is(one->ifa_addr, family, six, four)) return true;
  }
  return false;
}

}  // namespace wardmote::net
