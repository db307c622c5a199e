// Records of statistics: names and numbers as they come, no crash, and sums never wrap.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "codec/domain_stats.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  std::vector<codec::StatsField> fields;
  std::uint64_t largest = 0;
  for (std::string_view line : split(fuzz::text(data, size), '\n')) {
    const std::string_view name = take_until(line, '=');
    const std::uint64_t value = parse_number<std::uint64_t>(line).value_or(1);
    if (name.starts_with("block.") && name.ends_with("rd.reqs")) largest = std::max(largest, value);
    fields.push_back({name, value});
  }
  const codec::DomainStats stats = codec::sum_domain_stats(fields);
  if (stats.cpu) FUZZ_CHECK(*stats.cpu >= Duration::zero());
  if (stats.disk_requests) FUZZ_CHECK(*stats.disk_requests > 0 || largest == 0);
  return 0;
}
