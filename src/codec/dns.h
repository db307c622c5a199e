#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

// Our own code, because ldns needs OpenSSL's libcrypto, which the command line does not contain,
// and c-ares (1.18) shows neither the flags of a reply nor whether its question is exactly ours.

/// Types of records (RFC 1035, 3596, 2782) whose data is understood here.
// NOLINTNEXTLINE(performance-enum-size): cut to a byte, CAA (257) would be A
enum class DnsType : std::uint16_t {
  kA = 1,
  kNs = 2,
  kCname = 5,
  kSoa = 6,
  kPtr = 12,
  kMx = 15,
  kTxt = 16,
  kAaaa = 28,
  kSrv = 33,
};

/// Parses `A`, `AAAA`, `SRV`, …, in upper or lower case.
std::optional<DnsType> dns_type_of(std::string_view name) noexcept;
std::string_view to_string(DnsType type) noexcept;
/// `NOERROR`, `NXDOMAIN`, …; `RCODE11` for one without a name.
std::string dns_rcode_name(unsigned rcode);

struct DnsQuestion {
  std::uint16_t id = 0;
  std::string name;  ///< without a dot at the end; `.` is the root
  DnsType type = DnsType::kA;
};

/// A recursive query. kInvalid when the name is malformed.
Result<std::string> encode_dns_query(const DnsQuestion& question);

struct DnsRecord {
  std::string name;  ///< lower case, as all names here
  std::uint16_t type = 0;
  std::uint32_t ttl = 0;  ///< seconds
  std::string data;       ///< as dig prints it, names without a dot at the end, TXT without quotes
  friend bool operator==(const DnsRecord&, const DnsRecord&) = default;
};

struct DnsReply {
  unsigned rcode = 0;
  bool truncated = false;
  bool authoritative = false;
  std::vector<DnsRecord> answers;
  friend bool operator==(const DnsReply&, const DnsReply&) = default;
};

/// Reads the reply to a question. kRejected: a reply to another question (another id, name, type,
/// or the name in other letters), for another program or forged. kProtocol: not a reply, or
/// malformed. A truncated reply has no answers here.
Result<DnsReply> parse_dns_reply(std::string_view bytes, const DnsQuestion& asked);

}  // namespace wardmote::codec
