#include "observe/tls_params.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/endpoint/tls.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::observe {
namespace {

constexpr std::array<std::string_view, 3> kVerify = {"name", "chain", "none"};
constexpr std::int64_t kWarnDays = 14;
constexpr std::int64_t kMostDays = 3650;

Result<std::string> file_param(const Params& params, std::string_view name) {
  if (!params.contains(name)) return std::string();
  return path_param(params, name);
}

}  // namespace

Result<runtime::TlsSettings> tls_settings(const Params& params) {
  Result<std::string> ca = file_param(params, kTlsCa.name);
  if (!ca) return std::unexpected(ca.error());
  Result<std::string> certificate = file_param(params, kTlsCertificate.name);
  if (!certificate) return std::unexpected(certificate.error());
  Result<std::string> key = file_param(params, kTlsKey.name);
  if (!key) return std::unexpected(key.error());
  if (certificate->empty() != key->empty())
    return fail(Errc::kInvalid, "tls_certificate and tls_key go together: give both or neither");
  const std::string verify = param<std::string>(params, kTlsVerify.name).value_or("name");
  if (std::ranges::find(kVerify, verify) == kVerify.end())
    return fail(Errc::kInvalid, "verify: '{}' is none of {}", escape_control(verify, 64),
                fmt::join(kVerify, ", "));
  using Trust = runtime::TlsSettings::Trust;
  return runtime::TlsSettings{
      .ca = *std::move(ca),
      .certificate = *std::move(certificate),
      .key = *std::move(key),
      .trust = verify == "name" ? Trust::kChainAndName : Trust::kChain,
      .server_name = param<std::string>(params, kTlsServerName.name).value_or("")};
}

Result<judge::TlsPolicy> tls_policy(const Params& params) {
  const auto warn = integer_param(params, kTlsWarnDays.name, 0, kMostDays, kWarnDays);
  if (!warn) return std::unexpected(warn.error());
  const auto fails = integer_param(params, kTlsFailDays.name, 0, kMostDays, 0);
  if (!fails) return std::unexpected(fails.error());
  if (*fails > *warn)
    return fail(Errc::kInvalid, "fail_days: {} is more than warn_days ({})", *fails, *warn);
  const bool verifies = param<std::string>(params, kTlsVerify.name) != "none";
  return judge::TlsPolicy{verifies, std::chrono::days(*warn), std::chrono::days(*fails)};
}

judge::TlsFacts tls_facts(const runtime::TlsPeer& peer, Duration handshake_time, WallTime now) {
  judge::TlsFacts facts;
  facts.handshake_time = handshake_time;
  facts.version = peer.version;
  facts.cipher = peer.cipher;
  facts.certificate = peer.certificate;
  facts.subject = peer.subject;
  facts.issuer = peer.issuer;
  facts.names = peer.names;
  facts.not_after = peer.not_after;
  facts.first_to_expire = peer.first_to_expire;
  facts.left = peer.not_after - now;
  facts.trusted = peer.trusted;
  facts.distrust = peer.distrust.context;
  return facts;
}

Result<runtime::Endpoint> with_ovsdb_tls(runtime::Endpoint endpoint, const Params& params) {
  Result<runtime::TlsSettings> settings = tls_settings(params);
  if (!settings) return std::unexpected(settings.error());
  if (endpoint.kind != runtime::Endpoint::Kind::kTls) {
    if (*settings == runtime::TlsSettings{}) return endpoint;
    return fail(Errc::kInvalid, "tls_ca and its like are for ssl: addresses only");
  }
  if (settings->ca.empty())
    return fail(Errc::kInvalid, "give tls_ca: an ssl: address needs an authority to believe");
  settings->trust = runtime::TlsSettings::Trust::kChain;
  endpoint.tls = std::make_shared<const runtime::TlsSettings>(*std::move(settings));
  return endpoint;
}

}  // namespace wardmote::observe
