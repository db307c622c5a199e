#include "net/tls/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "net/tls/openssl.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

using runtime::TlsPeer;
using runtime::TlsSettings;

namespace {

constexpr std::size_t kMostNames = 64;
constexpr std::size_t kLongestText = 512;

WallTime to_wall(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return WallTime(std::chrono::seconds(::timegm(&parts)));
}

std::string name_text(const X509_NAME* name) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (!out || name == nullptr) return {};
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  if (size <= 0) return {};
  return {bytes, std::min(static_cast<std::size_t>(size), kLongestText)};
}

/// The name as UTF-8; nothing when it contains a zero byte, behind which some programs stop
/// reading.
std::optional<std::string> string_text(const ASN1_STRING* string) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, string);
  if (size < 0) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  if (text.empty() || text.size() > kLongestText || text.contains('\0')) return std::nullopt;
  return text;
}

std::string common_name(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int first = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (first < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, first) >= 0) return {};
  const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(subject, first);
  return string_text(X509_NAME_ENTRY_get_data(entry)).value_or("");
}

std::optional<std::string> address_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(address);
  const int family = size == 4 ? AF_INET : AF_INET6;
  if (size != 4 && size != 16) return std::nullopt;
  if (::inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size()) == nullptr)
    return std::nullopt;
  return text.data();
}

std::optional<std::string> alternative_name(const GENERAL_NAME* name) {
  const auto tagged = [](std::string_view tag, std::optional<std::string> text) {
    return text ? std::optional(fmt::format("{}:{}", tag, *text)) : std::nullopt;
  };
  switch (name->type) {
    case GEN_DNS: return tagged("dns", string_text(name->d.dNSName));
    case GEN_IPADD: return tagged("ip", address_text(name->d.iPAddress));
    case GEN_URI: return tagged("uri", string_text(name->d.uniformResourceIdentifier));
    case GEN_EMAIL: return tagged("email", string_text(name->d.rfc822Name));
    default: return std::nullopt;
  }
}

std::vector<std::string> alternative_names(const X509* certificate) {
  const auto free_names = [](GENERAL_NAMES* names) { GENERAL_NAMES_free(names); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free_names)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      free_names);
  std::vector<std::string> texts;
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count && texts.size() < kMostNames; ++i) {
    if (auto text = alternative_name(sk_GENERAL_NAME_value(names.get(), i)))
      texts.push_back(*std::move(text));
  }
  return texts;
}

/// The chain as it was sent; the peer's own certificate was read before.
void find_first_to_expire(SSL* ssl, TlsPeer& peer) {
  const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl);
  const int count = chain == nullptr ? 0 : sk_X509_num(chain);
  for (int i = 0; i < count; ++i) {
    const X509* const link = sk_X509_value(chain, i);
    const WallTime end = to_wall(X509_get0_notAfter(link));
    if (end >= peer.not_after) continue;
    peer.not_after = end;
    peer.first_to_expire = name_text(X509_get_subject_name(link));
  }
}

std::string authorities(const TlsSettings& settings) {
  return settings.ca.empty() ? "the authorities of this system" : settings.ca;
}

std::string shown_names(const X509* certificate) {
  const std::vector<std::string> names = alternative_names(certificate);
  if (names.empty()) return "no name at all";
  const auto last = names.begin() + std::min(std::ssize(names), std::ptrdiff_t{4});
  return fmt::format("{}", fmt::join(names.begin(), last, ", "));
}

bool is_mismatch(int code) noexcept {
  return code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

bool is_unknown_authority(int code) noexcept {
  return code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
         code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
         code == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
         code == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
         code == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
         code == X509_V_ERR_CERT_SIGNATURE_FAILURE;
}

std::string quoted(const X509_NAME* name) {
  return fmt::format("'{}'", escape_control(name_text(name), 128));
}

}  // namespace

Error distrust_of(X509_STORE_CTX* failed, const TlsSettings& settings, const std::string& name) {
  const int code = X509_STORE_CTX_get_error(failed);
  const X509* const certificate = X509_STORE_CTX_get_current_cert(failed);
  if (certificate == nullptr) return {Errc::kUntrusted, X509_verify_cert_error_string(code)};
  const std::string subject = quoted(X509_get_subject_name(certificate));
  if (code == X509_V_ERR_CERT_HAS_EXPIRED) {
    return {Errc::kExpired, fmt::format("certificate {} has run out on {}", subject,
                                        format_utc(to_wall(X509_get0_notAfter(certificate))))};
  }
  if (code == X509_V_ERR_CERT_NOT_YET_VALID) {
    return {Errc::kExpired, fmt::format("certificate {} is valid from {} only", subject,
                                        format_utc(to_wall(X509_get0_notBefore(certificate))))};
  }
  if (is_mismatch(code)) {
    return {Errc::kUntrusted, fmt::format("certificate {} is for {}, not for '{}'", subject,
                                          escape_control(shown_names(certificate), 256), name)};
  }
  if (is_unknown_authority(code)) {
    return {Errc::kUntrusted,
            fmt::format("certificate {} is signed by {}, which is not among {}", subject,
                        quoted(X509_get_issuer_name(certificate)), authorities(settings))};
  }
  return {Errc::kUntrusted,
          fmt::format("certificate {}: {}", subject, X509_verify_cert_error_string(code))};
}

TlsPeer describe_peer(SSL* ssl) {
  TlsPeer peer;
  peer.version = SSL_get_version(ssl);
  peer.cipher = SSL_get_cipher_name(ssl);
  const X509* const certificate = SSL_get0_peer_certificate(ssl);
  peer.certificate = certificate != nullptr;
  if (certificate == nullptr) return peer;
  peer.common_name = common_name(certificate);
  peer.subject = name_text(X509_get_subject_name(certificate));
  peer.issuer = name_text(X509_get_issuer_name(certificate));
  peer.names = alternative_names(certificate);
  peer.not_before = to_wall(X509_get0_notBefore(certificate));
  peer.not_after = to_wall(X509_get0_notAfter(certificate));
  peer.first_to_expire = peer.subject;
  find_first_to_expire(ssl, peer);
  return peer;
}

}  // namespace wardmote::net::tls
