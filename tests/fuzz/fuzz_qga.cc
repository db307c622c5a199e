// Replies of guest agents, which a hostile guest writes: no crash, and no text beyond its cap.
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "codec/qga.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const auto reply = codec::parse_qga_reply(fuzz::text(data, size));
  const bool frozen = codec::parse_freeze_status(fuzz::text(data, size)).has_value();
  const auto time = codec::parse_guest_time(fuzz::text(data, size));
  const auto mounted = codec::parse_fsinfo(fuzz::text(data, size));
  FUZZ_CHECK(frozen + time.has_value() + mounted.has_value() <= 1);
  if (time) FUZZ_CHECK(*time >= std::chrono::nanoseconds::zero());
  if (mounted) {
    FUZZ_CHECK(mounted->size() <= 64);
    for (const codec::QgaFileSystem& one : *mounted)
      FUZZ_CHECK(one.mountpoint.size() <= 1024 && one.type.size() <= 1024);
  }
  if (!reply) {
    FUZZ_CHECK(!frozen && !time && !mounted);
    return 0;
  }
  if (reply->text) FUZZ_CHECK(reply->text->size() <= 1024);
  if (reply->refusal) FUZZ_CHECK(reply->refusal->text.size() <= 1024);
  return 0;
}
