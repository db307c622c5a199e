#include "net/mbedtls/certificate.h"

#include <arpa/inet.h>
#include <mbedtls/asn1.h>
#include <mbedtls/oid.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509.h>
#include <mbedtls/x509_crt.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

using runtime::TlsPeer;

namespace {

constexpr std::size_t kMostNames = 64;
constexpr std::size_t kLongestText = 512;
/// The kinds of alternative names (RFC 5280 4.2.1.6).
constexpr int kEmail = 1;
constexpr int kDns = 2;
constexpr int kUri = 6;
constexpr int kAddress = 7;

WallTime to_wall(const mbedtls_x509_time& time) {
  using namespace std::chrono;
  const sys_days date = year(time.year) / month(static_cast<unsigned>(time.mon)) /
                        day(static_cast<unsigned>(time.day));
  return date + hours(time.hour) + minutes(time.min) + seconds(time.sec);
}

std::string_view bytes_of(const mbedtls_asn1_buf& buffer) {
  return {reinterpret_cast<const char*>(buffer.p), buffer.len};
}

/// RFC 2253: the last part first. mbedTLS writes them in the order of the certificate.
std::string name_text(const mbedtls_x509_name& name) {
  std::array<char, kLongestText> text{};
  const int size = mbedtls_x509_dn_gets(text.data(), text.size(), &name);
  if (size <= 0) return {};
  std::vector<std::string> parts;
  std::string_view rest(text.data(), static_cast<std::size_t>(size));
  while (!rest.empty()) {
    const std::size_t end = rest.find(", ");
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  }
  std::ranges::reverse(parts);
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string common_name(const mbedtls_x509_name& subject) {
  const std::string_view oid(MBEDTLS_OID_AT_CN, MBEDTLS_OID_SIZE(MBEDTLS_OID_AT_CN));
  std::optional<std::string> found;
  for (const mbedtls_x509_name* part = &subject; part != nullptr; part = part->next) {
    if (bytes_of(part->oid) != oid) continue;
    if (found) return {};
    found = bytes_of(part->val);
  }
  const bool good = found && found->size() <= kLongestText && !found->contains('\0');
  return good ? *found : "";
}

std::optional<std::string> address_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() != sizeof(in_addr) && bytes.size() != sizeof(in6_addr)) return std::nullopt;
  const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  if (::inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return std::nullopt;
  return text.data();
}

std::optional<std::string> alternative_name(const mbedtls_asn1_buf& name) {
  const std::string_view bytes = bytes_of(name);
  const int kind = name.tag & MBEDTLS_ASN1_TAG_VALUE_MASK;
  if (kind == kAddress) {
    const auto address = address_text(bytes);
    return address ? std::optional("ip:" + *address) : std::nullopt;
  }
  if (bytes.empty() || bytes.size() > kLongestText || bytes.contains('\0')) return std::nullopt;
  if (kind == kDns) return "dns:" + std::string(bytes);
  if (kind == kUri) return "uri:" + std::string(bytes);
  if (kind == kEmail) return "email:" + std::string(bytes);
  return std::nullopt;
}

std::vector<std::string> alternative_names(const mbedtls_x509_crt& certificate) {
  std::vector<std::string> names;
  if ((certificate.ext_types & MBEDTLS_X509_EXT_SUBJECT_ALT_NAME) == 0) return names;
  for (const mbedtls_x509_sequence* one = &certificate.subject_alt_names;
       one != nullptr && names.size() < kMostNames; one = one->next) {
    if (auto name = alternative_name(one->buf)) names.push_back(*std::move(name));
  }
  return names;
}

std::string quoted(const mbedtls_x509_name& name) {
  return fmt::format("'{}'", escape_control(name_text(name), 128));
}

std::string shown_names(const mbedtls_x509_crt& certificate) {
  const std::vector<std::string> names = alternative_names(certificate);
  if (names.empty()) return "no name at all";
  const auto last = names.begin() + std::min(std::ssize(names), std::ptrdiff_t{4});
  return fmt::format("{}", fmt::join(names.begin(), last, ", "));
}

}  // namespace

bool is_for_address(const mbedtls_x509_crt& certificate, const std::string& address) {
  in6_addr parsed{};
  const int family = address.contains(':') ? AF_INET6 : AF_INET;
  if (::inet_pton(family, address.c_str(), &parsed) != 1) return false;
  const std::string_view wanted(reinterpret_cast<const char*>(&parsed),
                                family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr));
  if ((certificate.ext_types & MBEDTLS_X509_EXT_SUBJECT_ALT_NAME) == 0) return false;
  for (const mbedtls_x509_sequence* one = &certificate.subject_alt_names; one != nullptr;
       one = one->next) {
    const bool is_address = (one->buf.tag & MBEDTLS_ASN1_TAG_VALUE_MASK) == kAddress;
    if (is_address && bytes_of(one->buf) == wanted) return true;
  }
  return false;
}

Error distrust_of(const mbedtls_x509_crt& certificate, std::uint32_t flags, const std::string& ca,
                  const std::string& name) {
  const std::string subject = quoted(certificate.subject);
  if ((flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED) != 0) {
    return {Errc::kUntrusted, fmt::format("certificate {} is signed by {}, which is not among {}",
                                          subject, quoted(certificate.issuer),
                                          ca.empty() ? "the authorities of this system" : ca)};
  }
  if ((flags & MBEDTLS_X509_BADCERT_EXPIRED) != 0) {
    return {Errc::kExpired, fmt::format("certificate {} has run out on {}", subject,
                                        format_utc(to_wall(certificate.valid_to)))};
  }
  if ((flags & MBEDTLS_X509_BADCERT_FUTURE) != 0) {
    return {Errc::kExpired, fmt::format("certificate {} is valid from {} only", subject,
                                        format_utc(to_wall(certificate.valid_from)))};
  }
  if ((flags & MBEDTLS_X509_BADCERT_CN_MISMATCH) != 0) {
    return {Errc::kUntrusted, fmt::format("certificate {} is for {}, not for '{}'", subject,
                                          escape_control(shown_names(certificate), 256), name)};
  }
  std::array<char, 256> why{};
  mbedtls_x509_crt_verify_info(why.data(), why.size(), "", flags);
  std::string_view first(why.data());
  return {Errc::kUntrusted, fmt::format("certificate {}: {}", subject, take_until(first, '\n'))};
}

TlsPeer describe_peer(const mbedtls_ssl_context& ssl) {
  TlsPeer peer;
  peer.version = mbedtls_ssl_get_version(&ssl);
  peer.cipher = mbedtls_ssl_get_ciphersuite(&ssl);
  std::ranges::replace(peer.cipher, '-', '_');  // as the registry of IANA spells it
  const mbedtls_x509_crt* const certificate = mbedtls_ssl_get_peer_cert(&ssl);
  peer.certificate = certificate != nullptr;
  if (certificate == nullptr) return peer;
  peer.common_name = common_name(certificate->subject);
  peer.subject = name_text(certificate->subject);
  peer.issuer = name_text(certificate->issuer);
  peer.names = alternative_names(*certificate);
  peer.not_before = to_wall(certificate->valid_from);
  peer.not_after = to_wall(certificate->valid_to);
  peer.first_to_expire = peer.subject;
  for (const mbedtls_x509_crt* link = certificate->next; link != nullptr; link = link->next) {
    const WallTime end = to_wall(link->valid_to);
    if (end >= peer.not_after) continue;
    peer.not_after = end;
    peer.first_to_expire = name_text(link->subject);
  }
  return peer;
}

}  // namespace wardmote::net::mbedtls
