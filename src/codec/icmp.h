#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::codec {

/// An echo request for a ping socket (icmp(7)): the kernel fills in checksum and identifier.
std::string encode_echo_request(bool ipv6, std::uint16_t sequence, std::string_view payload);

/// The sequence of an echo reply with this payload; nothing for any other datagram.
std::optional<std::uint16_t> parse_echo_reply(std::string_view bytes, bool ipv6,
                                              std::string_view payload) noexcept;

}  // namespace wardmote::codec
