// Datagrams of name servers and of echo replies: no crash, bounded work; what was read is of the
// right size.
#include <string_view>

#include "codec/dns.h"
#include "codec/icmp.h"
#include "fuzz/fuzz_check.h"

using namespace wardmote;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text(data, size);
  static_cast<void>(codec::parse_echo_reply(input, size % 2 == 0, "12345678"));
  // As the captures ask; and a question that fits whatever the id is.
  codec::DnsQuestion asked{0x1234, "api.example", codec::DnsType::kA};
  if (size >= 2) asked.id = static_cast<std::uint16_t>(data[0] << 8 | data[1]);
  const auto reply = codec::parse_dns_reply(input, asked);
  if (!reply) return 0;
  FUZZ_CHECK(reply->answers.size() * 11 <= size);
  // No compression makes a name longer than 255 bytes, written as `\123` each at most.
  for (const codec::DnsRecord& record : reply->answers) FUZZ_CHECK(record.name.size() <= 4 * 255);
  return 0;
}
