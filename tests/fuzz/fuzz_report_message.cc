// Reports that anybody may push: no crash, and what is taken is within its caps.
#include "codec/report_message.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const auto message = codec::parse_report_message(fuzz::text(data, size));
  if (!message) return 0;
  FUZZ_CHECK(size <= codec::kLargestReport);
  if (message->detail) FUZZ_CHECK(message->detail->size() <= 4096);
  if (message->timeout) FUZZ_CHECK(*message->timeout >= Duration::zero());
  return 0;
}
