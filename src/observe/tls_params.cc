#include "observe/tls_params.h"

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::observe {
namespace {

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
  return runtime::TlsSettings{
      .ca = *std::move(ca), .certificate = *std::move(certificate), .key = *std::move(key)};
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
