// Descriptions of domains: no crash, and what is taken has a name, a UUID, and its caps.
#include <cstddef>
#include <cstdint>

#include "codec/domain_xml.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const auto domain = codec::parse_domain_xml(fuzz::text(data, size));
  if (!domain) return 0;
  FUZZ_CHECK(!domain->name.empty() && domain->name.size() <= 1024);
  FUZZ_CHECK(codec::parse_uuid(domain->uuid) == domain->uuid);
  FUZZ_CHECK(domain->channels.size() <= 64);
  FUZZ_CHECK(domain->vcpus >= 1);
  if (domain->policy) FUZZ_CHECK(domain->policy->attributes.size() <= 32);
  return 0;
}
