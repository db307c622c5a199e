#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "base/utc.h"
#include "codec/http_date.h"
#include "fuzz/fuzz_check.h"

using wardmote::WallTime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
  const auto text = wardmote::fuzz::text(data, size);
  const auto at = wardmote::codec::parse_http_date(text, kNow);
  if (at) FUZZ_CHECK(*at >= WallTime{} && size < 40);
  const auto stamp = wardmote::parse_utc(text);
  if (stamp) FUZZ_CHECK(wardmote::parse_utc(wardmote::format_utc(*stamp)).has_value());
  return 0;
}
