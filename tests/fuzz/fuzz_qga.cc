// Replies of guest agents, which a hostile guest writes: no crash, and no text beyond its cap.
#include <cstddef>
#include <cstdint>

#include "codec/qga.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto reply = wardmote::codec::parse_qga_reply(wardmote::fuzz::text(data, size));
  if (!reply) return 0;
  if (reply->text) FUZZ_CHECK(reply->text->size() <= 1024);
  if (reply->refusal) FUZZ_CHECK(reply->refusal->text.size() <= 1024);
  return 0;
}
