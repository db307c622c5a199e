#include <cstddef>
#include <cstdint>

#include "codec/keystone.h"
#include "fuzz/fuzz_check.h"

using wardmote::codec::find_endpoint;
using wardmote::codec::parse_keystone_token;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto token = parse_keystone_token(wardmote::fuzz::text(data, size));
  if (!token) return 0;
  FUZZ_CHECK(token->catalog.size() <= 4096);
  const auto url = find_endpoint(*token, "instance-ha", "public", "");
  FUZZ_CHECK(!url || !url->empty());
  return 0;
}
