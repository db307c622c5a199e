#include "net/tls/fault.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/tls1.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "net/tls/openssl.h"

namespace wardmote::net::tls {
namespace {

struct Words {
  int code;
  Errc errc;
  std::string_view text;
};

/// Alerts of the peer (RFC 8446 6.2) on which somebody can act.
constexpr auto kAlerts = std::to_array<Words>({
    {SSL_AD_BAD_CERTIFICATE, Errc::kDenied, "it does not accept our certificate: bad certificate"},
    {SSL_AD_UNSUPPORTED_CERTIFICATE, Errc::kDenied,
     "it does not accept our certificate: of a kind that it does not take"},
    {SSL_AD_CERTIFICATE_REVOKED, Errc::kDenied, "it does not accept our certificate: revoked"},
    {SSL_AD_CERTIFICATE_EXPIRED, Errc::kDenied, "it does not accept our certificate: expired"},
    {SSL_AD_CERTIFICATE_UNKNOWN, Errc::kDenied, "it does not accept our certificate"},
    {SSL_AD_UNKNOWN_CA, Errc::kDenied,
     "it does not accept our certificate: it does not know the authority that signed it"},
    {SSL_AD_ACCESS_DENIED, Errc::kDenied, "it does not let us in"},
    {SSL_AD_CERTIFICATE_REQUIRED, Errc::kDenied, "it wants a certificate of ours"},
    {SSL_AD_PROTOCOL_VERSION, Errc::kProtocol, "no version of TLS in common: here 1.2 or later"},
    {SSL_AD_HANDSHAKE_FAILURE, Errc::kProtocol, "no cipher in common"},
    {SSL_AD_INSUFFICIENT_SECURITY, Errc::kProtocol, "it asks for a stronger cipher"},
    {SSL_AD_UNRECOGNIZED_NAME, Errc::kRejected, "it serves no such name"},
});

/// Reasons of OpenSSL's own on which somebody can act.
constexpr auto kReasons = std::to_array<Words>({
    {SSL_R_UNSUPPORTED_PROTOCOL, Errc::kProtocol, "it speaks an old TLS only: here 1.2 or later"},
    {SSL_R_VERSION_TOO_LOW, Errc::kProtocol, "it speaks an old TLS only: here 1.2 or later"},
    {SSL_R_WRONG_VERSION_NUMBER, Errc::kProtocol, "what it says is not TLS"},
    {SSL_R_HTTP_REQUEST, Errc::kProtocol, "plain HTTP where TLS is spoken"},
    {SSL_R_NO_SHARED_CIPHER, Errc::kProtocol, "no cipher in common"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, Errc::kDenied, "it shows no certificate"},
});

template <std::size_t N>
const Words* find(const std::array<Words, N>& table, int code) noexcept {
  const auto found = std::ranges::find(table, code, &Words::code);
  return found == table.end() ? nullptr : &*found;
}

Error alert_fault(int alert, const Circumstances& known) {
  // TLS 1.2 has no more specific alert.
  if (alert == SSL_AD_HANDSHAKE_FAILURE && known.ours_was_wanted)
    return {Errc::kDenied, "TLS: it wants a certificate of ours"};
  if (const Words* const words = find(kAlerts, alert))
    return {words->errc, fmt::format("TLS: {}", words->text)};
  return {Errc::kProtocol, fmt::format("TLS: it ends with alert {}", alert)};
}

}  // namespace

Error fault_of(const Circumstances& known) {
  const QueuedError error = take_error();
  const bool distrusted =
      error.library == ERR_LIB_SSL && error.reason == SSL_R_CERTIFICATE_VERIFY_FAILED;
  if (distrusted && known.distrust)
    return {known.distrust->code, fmt::format("TLS: {}", known.distrust->context)};
  if (error.library == ERR_LIB_SSL && error.reason > SSL_AD_REASON_OFFSET)
    return alert_fault(error.reason - SSL_AD_REASON_OFFSET, known);
  if (error.library == ERR_LIB_SSL) {
    if (const Words* const words = find(kReasons, error.reason))
      return {words->errc, fmt::format("TLS: {}", words->text)};
  }
  return {Errc::kProtocol, error.text.empty() ? "TLS" : fmt::format("TLS: {}", error.text)};
}

bool begins_tls(unsigned char first_byte) noexcept {
  constexpr unsigned char kAlert = 21;
  constexpr unsigned char kHandshake = 22;
  return first_byte == kAlert || first_byte == kHandshake;
}

}  // namespace wardmote::net::tls
