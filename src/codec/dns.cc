#include "codec/dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/bytes.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kLongestName = 255;  // RFC 1035 2.3.4, on the wire
constexpr std::size_t kLongestLabel = 63;
constexpr std::uint16_t kInternet = 1;
constexpr std::uint16_t kIsReply = 0x8000;
constexpr std::uint16_t kAuthoritative = 0x0400;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kWantsRecursion = 0x0100;
constexpr unsigned kPointer = 0xc0;

struct TypeName {
  DnsType type;
  std::string_view name;
};
constexpr std::array<TypeName, 9> kTypes = {{{DnsType::kA, "A"},
                                             {DnsType::kNs, "NS"},
                                             {DnsType::kCname, "CNAME"},
                                             {DnsType::kSoa, "SOA"},
                                             {DnsType::kPtr, "PTR"},
                                             {DnsType::kMx, "MX"},
                                             {DnsType::kTxt, "TXT"},
                                             {DnsType::kAaaa, "AAAA"},
                                             {DnsType::kSrv, "SRV"}}};

// RFC 1035 4.1.1 and RFC 2136 2.2.
constexpr std::array<std::string_view, 11> kRcodes = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                                      "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                                      "NXRRSET", "NOTAUTH", "NOTZONE"};

void put_number(std::string& bytes, std::uint16_t value) {
  bytes += static_cast<char>(value >> 8);
  bytes += static_cast<char>(value & 0xff);
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Characters that would have another meaning in the text of a name are written as `\046`.
void append_label(std::string& text, std::string_view label) {
  for (const char c : label) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '.' || c == '\\' || byte <= 0x20 || byte >= 0x7f) {
      text += fmt::format("\\{:03}", byte);
    } else {
      text += c;
    }
  }
}

/// Walks through a message. Malformed input makes the walker bad, and then every value is zero or
/// empty.
class Walker {
 public:
  explicit Walker(std::string_view message) noexcept : message_(message) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  void fail() noexcept { good_ = false; }
  void go_to(std::size_t at) noexcept { at_ = at; }

  std::string_view take(std::size_t count) noexcept {
    if (!good_ || message_.size() - at_ < count) {
      fail();
      return {};
    }
    const std::string_view taken = message_.substr(at_, count);
    at_ += count;
    return taken;
  }
  template <class T>
  T number() noexcept {
    const std::string_view taken = take(sizeof(T));
    return good_ ? big_endian<T>(taken) : T{};
  }

  /// RFC 1035 4.1.4. A pointer leads back, each time to before the last one, so that the name has
  /// an end.
  std::string name() {
    std::string text;
    std::size_t length = 1;
    std::size_t limit = at_;
    std::optional<std::size_t> behind;
    while (good_) {
      const auto size = number<std::uint8_t>();
      if (!good_ || size == 0) break;
      if ((size & kPointer) == kPointer) {
        const std::size_t to = (size & ~kPointer) << 8 | number<std::uint8_t>();
        if (!behind) behind = at_;
        if (to >= limit) fail();
        limit = to;
        at_ = to;
        continue;
      }
      const std::string_view label = take(size);
      length += size + 1U;
      if (size > kLongestLabel || length > kLongestName) fail();
      if (!text.empty()) text += '.';
      append_label(text, label);
    }
    if (behind) at_ = *behind;
    if (!good_) return {};
    return text.empty() ? "." : text;
  }

 private:
  std::string_view message_;
  std::size_t at_ = 0;
  bool good_ = true;
};

std::string lower_name(Walker& walker) {
  std::string name = walker.name();
  std::ranges::transform(name, name.begin(), lower);
  return name;
}

std::string address_text(int family, std::string_view bytes) {
  std::array<char, sizeof(in6_addr)> raw{};
  std::ranges::copy(bytes.substr(0, raw.size()), raw.begin());
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, raw.data(), text.data(), text.size());
  return text.data();
}

std::string read_text(Walker& walker, std::size_t end) {
  std::string text;
  while (walker.good() && walker.at() < end) {
    const std::size_t size = walker.number<std::uint8_t>();
    text.append(walker.take(size));
  }
  return text;
}

std::string read_soa(Walker& walker) {
  std::string text = lower_name(walker);
  text += ' ' + lower_name(walker);
  for (int i = 0; i < 5; ++i) text += fmt::format(" {}", walker.number<std::uint32_t>());
  return text;
}

std::string unknown_data(std::string_view bytes) {
  std::string text = fmt::format("\\# {} ", bytes.size());  // RFC 3597 5
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string read_data(Walker& walker, std::uint16_t type, std::size_t size) {
  const std::size_t end = walker.at() + size;
  switch (static_cast<DnsType>(type)) {
    case DnsType::kA:
    case DnsType::kAaaa: {
      const bool v4 = static_cast<DnsType>(type) == DnsType::kA;
      if (size != (v4 ? sizeof(in_addr) : sizeof(in6_addr))) walker.fail();
      const std::string_view bytes = walker.take(size);
      return walker.good() ? address_text(v4 ? AF_INET : AF_INET6, bytes) : std::string();
    }
    case DnsType::kNs:
    case DnsType::kCname:
    case DnsType::kPtr: return lower_name(walker);
    case DnsType::kMx: {
      const auto preference = walker.number<std::uint16_t>();
      return fmt::format("{} {}", preference, lower_name(walker));
    }
    case DnsType::kSrv: {
      const auto priority = walker.number<std::uint16_t>();
      const auto weight = walker.number<std::uint16_t>();
      const auto port = walker.number<std::uint16_t>();
      return fmt::format("{} {} {} {}", priority, weight, port, lower_name(walker));
    }
    case DnsType::kTxt: return read_text(walker, end);
    case DnsType::kSoa: return read_soa(walker);
  }
  return unknown_data(walker.take(size));
}

DnsRecord read_record(Walker& walker, std::string_view message) {
  DnsRecord record;
  record.name = lower_name(walker);
  record.type = walker.number<std::uint16_t>();
  if (walker.number<std::uint16_t>() != kInternet) walker.fail();
  record.ttl = walker.number<std::uint32_t>();
  const std::size_t size = walker.number<std::uint16_t>();
  const std::size_t end = walker.at() + size;
  if (end > message.size()) walker.fail();
  if (!walker.good()) return record;
  record.data = read_data(walker, record.type, size);
  if (walker.at() != end) walker.fail();
  return record;
}

/// A name as it stands in a message: labels after their lengths.
Result<std::string> wire_name(std::string_view name) {
  std::string bytes;
  for (const std::string_view label : split(name, '.')) {
    if (name == ".") break;
    if (label.empty() || label.size() > kLongestLabel) {
      return fail(Errc::kInvalid, "'{}' is not a name: a part is empty or longer than {} bytes",
                  escape_control(name, kLongestName), kLongestLabel);
    }
    bytes += static_cast<char>(label.size());
    bytes.append(label);
  }
  bytes += '\0';
  if (bytes.size() > kLongestName)
    return fail(Errc::kInvalid, "a name longer than {} bytes", kLongestName);
  return bytes;
}

}  // namespace

std::optional<DnsType> dns_type_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find_if(kTypes, [&](const TypeName& type) {
    return std::ranges::equal(type.name, name, [](char a, char b) { return lower(a) == lower(b); });
  });
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

std::string_view to_string(DnsType type) noexcept {
  const auto* const found = std::ranges::find(kTypes, type, &TypeName::type);
  return found == kTypes.end() ? "?" : found->name;
}

std::string dns_rcode_name(unsigned rcode) {
  return rcode < kRcodes.size() ? std::string(kRcodes[rcode]) : fmt::format("RCODE{}", rcode);
}

Result<std::string> encode_dns_query(const DnsQuestion& question) {
  const Result<std::string> name = wire_name(question.name);
  if (!name) return name;
  std::string bytes;
  put_number(bytes, question.id);
  put_number(bytes, kWantsRecursion);
  put_number(bytes, 1);
  for (int i = 0; i < 3; ++i) put_number(bytes, 0);
  bytes += *name;
  put_number(bytes, static_cast<std::uint16_t>(question.type));
  put_number(bytes, kInternet);
  return bytes;
}

Result<DnsReply> parse_dns_reply(std::string_view bytes, const DnsQuestion& asked) {
  Result<std::string> query = encode_dns_query(asked);
  if (!query) return std::unexpected(query.error());
  if (bytes.size() < kHeader) return fail(Errc::kProtocol, "{} bytes are no reply", bytes.size());
  const auto flags = big_endian<std::uint16_t>(bytes.substr(2));
  const bool same_id = bytes.substr(0, 2) == std::string_view(*query).substr(0, 2);
  if (!same_id || (flags & kIsReply) == 0) return fail(Errc::kRejected, "no reply to our question");
  DnsReply reply;
  reply.rcode = flags & 0xfU;
  reply.truncated = (flags & kTruncated) != 0;
  reply.authoritative = (flags & kAuthoritative) != 0;
  const auto questions = big_endian<std::uint16_t>(bytes.substr(4));
  const auto answers = big_endian<std::uint16_t>(bytes.substr(6));
  // A server that did not understand the question may leave it out.
  if (questions == 0 && reply.rcode != 0 && answers == 0) return reply;
  const std::string_view question = std::string_view(*query).substr(kHeader);
  if (questions != 1 || bytes.substr(kHeader, question.size()) != question)
    return fail(Errc::kRejected, "a reply to another question");
  if (reply.truncated) return reply;
  Walker walker(bytes);
  walker.go_to(query->size());
  for (std::size_t i = 0; i < answers && walker.good(); ++i)
    reply.answers.push_back(read_record(walker, bytes));
  if (!walker.good()) return fail(Errc::kProtocol, "a reply that is cut or broken");
  return reply;
}

}  // namespace wardmote::codec
