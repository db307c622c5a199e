#pragma once

#include "base/result.h"
#include "base/time.h"
#include "judge/endpoint/tls.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::observe {

/// The parameters of kinds that can speak TLS, for their arrays.
inline constexpr ParamSpec kTlsCa{"tls_ca", ParamType::kText, false,
                                  "TLS: PEM file with the trusted CAs"};
inline constexpr ParamSpec kTlsCertificate{"tls_certificate", ParamType::kText, false,
                                           "TLS: PEM file with the client certificate"};
inline constexpr ParamSpec kTlsKey{"tls_key", ParamType::kText, false,
                                   "TLS: PEM file with the key of the client certificate"};

inline constexpr ParamSpec kTlsServerName{
    "server_name", ParamType::kText, false,
    "TLS: the name to ask for and to find in the certificate (default: the host)"};
inline constexpr ParamSpec kTlsVerify{"verify", ParamType::kText, false,
                                      "TLS: name (the default), chain (any name will do) or none "
                                      "(check only whether it has expired)"};
inline constexpr ParamSpec kTlsWarnDays{
    "warn_days", ParamType::kInteger, false,
    "TLS: warn when a certificate expires within this many days (default: 14)"};
inline constexpr ParamSpec kTlsFailDays{
    "fail_days", ParamType::kInteger, false,
    "TLS: fail when a certificate expires within this many days (default: 0)"};

/// The TLS settings in the parameters. kInvalid: a path that is not absolute, a certificate without
/// its key, an unknown `verify`.
Result<runtime::TlsSettings> tls_settings(const Params& params);
/// The limits for the certificate in the parameters. kInvalid: days out of range.
Result<judge::TlsPolicy> tls_policy(const Params& params);

/// What a handshake has shown, for the judge.
judge::TlsFacts tls_facts(const runtime::TlsPeer& peer, Duration handshake_time, WallTime now);

/// Adds the TLS settings to an `ssl:` endpoint of an OVSDB server; other endpoints must have none
/// (kInvalid). The names of these servers are not checked, so a CA must be given (kInvalid): with
/// the CAs of the system, anybody would be trusted.
Result<runtime::Endpoint> with_ovsdb_tls(runtime::Endpoint endpoint, const Params& params);

}  // namespace wardmote::observe
