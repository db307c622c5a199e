#include "codec/icmp.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/bytes.h"

namespace wardmote::codec {
namespace {

// RFC 792 and RFC 4443.
constexpr unsigned char kEchoRequest = 8;
constexpr unsigned char kEchoReply = 0;
constexpr unsigned char kEchoRequest6 = 128;
constexpr unsigned char kEchoReply6 = 129;
constexpr std::size_t kHeader = 8;

}  // namespace

std::string encode_echo_request(bool ipv6, std::uint16_t sequence, std::string_view payload) {
  std::string bytes(kHeader, '\0');
  bytes[0] = static_cast<char>(ipv6 ? kEchoRequest6 : kEchoRequest);
  bytes[6] = static_cast<char>(sequence >> 8);
  bytes[7] = static_cast<char>(sequence & 0xff);
  return bytes.append(payload);
}

std::optional<std::uint16_t> parse_echo_reply(std::string_view bytes, bool ipv6,
                                              std::string_view payload) noexcept {
  if (bytes.size() != kHeader + payload.size() || bytes.substr(kHeader) != payload)
    return std::nullopt;
  const auto type = static_cast<unsigned char>(bytes[0]);
  if (type != (ipv6 ? kEchoReply6 : kEchoReply) || bytes[1] != 0) return std::nullopt;
  return big_endian<std::uint16_t>(bytes.substr(6));
}

}  // namespace wardmote::codec
