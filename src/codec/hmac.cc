#include "codec/hmac.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/sha256.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kBlock = 64;

}  // namespace

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string inner(kBlock, '\0');
  if (key.size() > kBlock) {
    std::ranges::copy(sha256(key), inner.begin());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  std::string outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  inner += bytes;
  const Sha256 digest = sha256(inner);
  outer.append(digest.begin(), digest.end());
  return sha256(outer);
}

std::string hex(const Sha256& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace wardmote::codec
