#pragma once

#include "base/result.h"
#include "base/time.h"
#include "judge/endpoint/tls.h"
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

inline constexpr ParamSpec kTlsServerName{
    "server_name", ParamType::kText, false,
    "TLS: the name to ask for and to find in the certificate (default: the host)"};
inline constexpr ParamSpec kTlsVerify{
    "verify", ParamType::kText, false,
    "TLS: name (the default), chain (any name will do) or none (only whether it has run out)"};
inline constexpr ParamSpec kTlsWarnDays{
    "warn_days", ParamType::kInteger, false,
    "TLS: warn when a certificate runs out within so many days (14)"};
inline constexpr ParamSpec kTlsFailDays{
    "fail_days", ParamType::kInteger, false,
    "TLS: fail when a certificate runs out within so many days (0)"};

/// What they say of the handshake. kInvalid: a path that is not absolute, a certificate without its
/// key, a `verify` that is none.
Result<runtime::TlsSettings> tls_settings(const Params& params);
/// What they say of the certificate. kInvalid: days out of range.
Result<judge::TlsPolicy> tls_policy(const Params& params);

/// What a handshake showed, for the judge.
judge::TlsFacts tls_facts(const runtime::TlsPeer& peer, Duration handshake_time, WallTime now);

/// Gives an `ssl:` endpoint of an OVSDB server what the parameters say; others take none
/// (kInvalid). Servers are believed whatever their names, so an authority must be given (kInvalid):
/// those of the system would let anybody in.
Result<runtime::Endpoint> with_ovsdb_tls(runtime::Endpoint endpoint, const Params& params);

}  // namespace wardmote::observe
