#pragma once

#include <string>
#include <string_view>

namespace wardmote::codec {

/// The address in its normal form, since servers keep the spelling that somebody gave them: an IPv6
/// address as RFC 5952 writes it, one that holds an IPv4 address as that, a name in small letters
/// and without the last dot. Two names may still be of one host. All else stays as it is.
std::string normal_address(std::string_view address);

}  // namespace wardmote::codec
