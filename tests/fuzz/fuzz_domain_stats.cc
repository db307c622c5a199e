// Records of statistics: names and numbers as they come, no crash, and sums never wrap.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "codec/domain_stats.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  std::vector<codec::StatsField> fields;
  for (std::string_view line : split(fuzz::text(data, size), '\n')) {
    const std::string_view name = take_until(line, '=');
    fields.push_back({name, parse_number<std::uint64_t>(line).value_or(1)});
  }
  const codec::DomainStats once = codec::sum_domain_stats(fields);
  if (once.cpu) FUZZ_CHECK(*once.cpu >= Duration::zero());
  const std::size_t count = fields.size();
  for (std::size_t i = 0; i < count; ++i) fields.push_back(fields[i]);
  const codec::DomainStats twice = codec::sum_domain_stats(fields);
  FUZZ_CHECK(twice.disk_requests.value_or(0) >= once.disk_requests.value_or(0));
  FUZZ_CHECK(twice.sent_packets.value_or(0) >= once.sent_packets.value_or(0));
  return 0;
}
