#pragma once

#include <string>
#include <string_view>

#include "base/sha256.h"

namespace wardmote::codec {

/// RFC 2104 with SHA-256.
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

/// Lower case.
std::string hex(const Sha256& digest);

}  // namespace wardmote::codec
