#include "net/system_links.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <expected>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/local_addresses.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/links.h"

namespace wardmote::net {
namespace {

using runtime::VirtualAddress;

using Mac = std::array<std::uint8_t, ETH_ALEN>;

/// The address in binary, and where it belongs.
struct Place {
  int family = AF_UNSPEC;
  std::vector<std::uint8_t> bytes;
  unsigned index = 0;  ///< of the interface
};

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of a kernel structure
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

template <class T>
const sockaddr* as_address(const T& address) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<Place> place_of(const VirtualAddress& address) {
  Place place;
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, address.address.c_str(), &four) == 1) {
    place.family = AF_INET;
    const auto bytes = bytes_of(four);
    place.bytes.assign(bytes.begin(), bytes.end());
  } else if (::inet_pton(AF_INET6, address.address.c_str(), &six) == 1) {
    place.family = AF_INET6;
    const auto bytes = bytes_of(six);
    place.bytes.assign(bytes.begin(), bytes.end());
  } else {
    return fail(Errc::kInvalid, "address {}: not numeric", address.address);
  }
  place.index = ::if_nametoindex(address.interface.c_str());
  if (place.index == 0) return fail_errno(errno, "interface {}", address.interface);
  return place;
}

/// A netlink request of one message, built in place.
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    header.nlmsg_seq = 1;
    add(bytes_of(header));
  }

  void add(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize((bytes_.size() + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO);
  }
  void attribute(std::uint16_t type, std::span<const std::uint8_t> bytes) {
    rtattr header{};
    header.rta_type = type;
    header.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(bytes.size()));
    add(bytes_of(header));
    add(bytes);
  }
  std::span<const std::uint8_t> finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);
    return bytes_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Sends it and reads the kernel's answer, which is there when send() returns.
Result<void> ask_kernel(Request request, std::string_view what) {
  const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return fail_errno(errno, "{}", what);
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto bytes = request.finish();
  if (::send(socket.get(), bytes.data(), bytes.size(), 0) < 0) return fail_errno(errno, "{}", what);
  std::array<std::uint8_t, 4096> answer{};
  const ssize_t length = ::recv(socket.get(), answer.data(), answer.size(), 0);
  if (length < 0) return fail_errno(errno, "{}", what);
  nlmsghdr header{};
  nlmsgerr error{};
  if (static_cast<std::size_t>(length) < sizeof header + sizeof error)
    return fail(Errc::kProtocol, "{}: a short answer of the kernel", what);
  std::memcpy(&header, answer.data(), sizeof header);
  std::memcpy(&error, answer.data() + sizeof header, sizeof error);
  if (header.nlmsg_type != NLMSG_ERROR)
    return fail(Errc::kProtocol, "{}: an unexpected answer of the kernel", what);
  if (error.error != 0) return fail_errno(-error.error, "{}", what);
  return {};
}

void add_address(Request& request, const Place& place, std::uint8_t prefix) {
  ifaddrmsg message{};
  message.ifa_family = static_cast<std::uint8_t>(place.family);
  message.ifa_prefixlen = prefix;
  // Nobody else has it, by the lease: to look for a duplicate would take a second.
  message.ifa_flags = place.family == AF_INET6 ? IFA_F_NODAD : 0;
  message.ifa_index = place.index;
  request.add(bytes_of(message));
  request.attribute(IFA_LOCAL, place.bytes);
  request.attribute(IFA_ADDRESS, place.bytes);
}

Result<Mac> mac_of(const std::string& interface) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno(errno, "interface {}", interface);
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(socket.get(), SIOCGIFHWADDR, &request) != 0)
    return fail_errno(errno, "interface {}", interface);
  Mac mac{};
  std::memcpy(mac.data(), request.ifr_hwaddr.sa_data, mac.size());
  return mac;
}

/// RFC 5227 2.3: both addresses of protocol are the announced one. As a request and as a reply,
/// since some neighbours heed only one of them.
Result<void> announce_by_arp(const Place& place, const Mac& mac) {
  const UniqueFd socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno(errno, "announce by ARP");
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ARP);
  to.sll_ifindex = static_cast<int>(place.index);
  to.sll_halen = ETH_ALEN;
  std::memset(to.sll_addr, 0xff, ETH_ALEN);
  for (const int operation : {ARPOP_REQUEST, ARPOP_REPLY}) {
    arphdr header{};
    header.ar_hrd = htons(ARPHRD_ETHER);
    header.ar_pro = htons(ETH_P_IP);
    header.ar_hln = ETH_ALEN;
    header.ar_pln = 4;
    header.ar_op = htons(static_cast<std::uint16_t>(operation));
    std::vector<std::uint8_t> packet;
    const auto append = [&](std::span<const std::uint8_t> bytes) {
      packet.insert(packet.end(), bytes.begin(), bytes.end());
    };
    append(bytes_of(header));
    append(mac);
    append(place.bytes);
    append(mac);
    append(place.bytes);
    const ssize_t sent =
        ::sendto(socket.get(), packet.data(), packet.size(), 0, as_address(to), sizeof to);
    if (sent < 0) return fail_errno(errno, "announce by ARP");
  }
  return {};
}

/// RFC 4861 7.2.6, with the override flag. The kernel fills in the checksum.
Result<void> announce_by_advertisement(const Place& place, const Mac& mac) {
  const UniqueFd socket(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6));
  if (!socket) return fail_errno(errno, "announce by advertisement");
  const int hops = 255;
  const int index = static_cast<int>(place.index);
  ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
  ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
  sockaddr_in6 from{};
  from.sin6_family = AF_INET6;
  std::memcpy(&from.sin6_addr, place.bytes.data(), place.bytes.size());
  if (::bind(socket.get(), as_address(from), sizeof from) != 0)
    return fail_errno(errno, "announce by advertisement");
  nd_neighbor_advert advert{};
  advert.nd_na_type = ND_NEIGHBOR_ADVERT;
  advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
  advert.nd_na_target = from.sin6_addr;
  const nd_opt_hdr option{.nd_opt_type = ND_OPT_TARGET_LINKADDR, .nd_opt_len = 1};
  std::vector<std::uint8_t> packet;
  const auto append = [&](std::span<const std::uint8_t> bytes) {
    packet.insert(packet.end(), bytes.begin(), bytes.end());
  };
  append(bytes_of(advert));
  append(bytes_of(option));
  append(mac);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_scope_id = place.index;
  ::inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
  const ssize_t sent =
      ::sendto(socket.get(), packet.data(), packet.size(), 0, as_address(to), sizeof to);
  if (sent < 0) return fail_errno(errno, "announce by advertisement");
  return {};
}

}  // namespace

bool SystemLinks::has(const std::string& address) {
  return is_own_address(address);
}

Result<void> SystemLinks::hold(const VirtualAddress& address, std::chrono::seconds valid) {
  const Result<Place> place = place_of(address);
  if (!place) return std::unexpected(place.error());
  if (valid < std::chrono::seconds(1))
    return fail(Errc::kInvalid, "hold {}: for no time", address.address);
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  add_address(request, *place, address.prefix);
  ifa_cacheinfo life{};
  life.ifa_prefered = life.ifa_valid = static_cast<std::uint32_t>(valid.count());
  request.attribute(IFA_CACHEINFO, bytes_of(life));
  return ask_kernel(std::move(request), "hold " + address.address);
}

Result<void> SystemLinks::drop(const VirtualAddress& address) {
  const Result<Place> place = place_of(address);
  if (!place) return std::unexpected(place.error());
  Request request(RTM_DELADDR, 0);
  add_address(request, *place, address.prefix);
  Result<void> gone = ask_kernel(std::move(request), "drop " + address.address);
  if (!gone && !is_own_address(address.address)) return {};
  return gone;
}

Result<void> SystemLinks::announce(const VirtualAddress& address) {
  const Result<Place> place = place_of(address);
  if (!place) return std::unexpected(place.error());
  const Result<Mac> mac = mac_of(address.interface);
  if (!mac) return std::unexpected(mac.error());
  return place->family == AF_INET ? announce_by_arp(*place, *mac)
                                  : announce_by_advertisement(*place, *mac);
}

}  // namespace wardmote::net
