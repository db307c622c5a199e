#pragma once

#include "base/result.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::observe {

/// The parameters of kinds that can speak TLS, to stand in their arrays.
inline constexpr ParamSpec kTlsCa{"tls_ca", ParamType::kText, false,
                                  "TLS: PEM file with the authorities to believe"};
inline constexpr ParamSpec kTlsCertificate{"tls_certificate", ParamType::kText, false,
                                           "TLS: PEM file with our own certificate"};
inline constexpr ParamSpec kTlsKey{"tls_key", ParamType::kText, false,
                                   "TLS: PEM file with the key to tls_certificate"};

/// What they say. kInvalid: a path that is not absolute, a certificate without its key.
Result<runtime::TlsSettings> tls_settings(const Params& params);

/// Gives an `ssl:` endpoint of an OVSDB server what the parameters say; others take none
/// (kInvalid). Servers are believed whatever their names, so an authority must be given (kInvalid):
/// those of the system would let anybody in.
Result<runtime::Endpoint> with_ovsdb_tls(runtime::Endpoint endpoint, const Params& params);

}  // namespace wardmote::observe
