#include "codec/base64.h"

#include <nettle/base64.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::codec {

std::string base64_encode(std::string_view bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  nettle_base64_encode_raw(text.data(), bytes.size(),
                           reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  base64_decode_ctx state{};
  nettle_base64_decode_init(&state);
  std::string bytes(BASE64_DECODE_LENGTH(text.size()), '\0');
  std::size_t size = bytes.size();
  const int good = nettle_base64_decode_update(
      &state, &size, reinterpret_cast<std::uint8_t*>(bytes.data()), text.size(), text.data());
  if (good != 1 || nettle_base64_decode_final(&state) != 1) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace wardmote::codec
