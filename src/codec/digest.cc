#include "codec/digest.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"

namespace wardmote::codec {
namespace {

static_assert(sizeof(Sha256) == SHA256_DIGEST_SIZE);
static_assert(sizeof(Sha1) == SHA1_DIGEST_SIZE);

const std::uint8_t* octets(std::string_view bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace

Sha256 sha256(std::string_view bytes) noexcept {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), octets(bytes));
  Sha256 digest;
  sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

Sha1 sha1(std::string_view bytes) noexcept {
  sha1_ctx context;
  sha1_init(&context);
  sha1_update(&context, bytes.size(), octets(bytes));
  Sha1 digest;
  sha1_digest(&context, digest.size(), digest.data());
  return digest;
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) noexcept {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), octets(key));
  hmac_sha256_update(&context, bytes.size(), octets(bytes));
  Sha256 digest;
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

bool equal_in_constant_time(const Sha256& a, const Sha256& b) noexcept {
  return memeql_sec(a.data(), b.data(), a.size()) != 0;
}

std::string hex(const Sha256& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string hex(const Sha1& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace wardmote::codec
