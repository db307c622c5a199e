#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// What a TLS handshake showed. The peer chooses these texts.
struct TlsFacts {
  Duration handshake_time{};  ///< including the connect
  std::string version;        ///< `TLSv1.3`
  std::string cipher;
  /// the server sent a certificate; otherwise all the following is empty
  bool certificate = false;
  std::string subject;  ///< `CN=ctl-1,O=Open vSwitch`
  std::string issuer;
  std::vector<std::string> names;  ///< `dns:ctl-1.example`, `ip:10.0.0.1`, …
  WallTime not_after;              ///< when the first certificate of the chain expires
  std::string first_to_expire;     ///< and which one that is
  Duration left{};                 ///< time until then; negative afterwards
  bool trusted = false;
  std::string distrust;  ///< why it is not trusted
};

/// What is required of a server beyond a handshake.
struct TlsPolicy {
  bool verify = true;      ///< clients must be able to trust its certificate
  Duration warn_before{};  ///< warn this long before a certificate of the chain expires
  Duration fail_before{};  ///< at most warn_before
};

/// Expired: fail with kExpired, whatever the policy says. Not trusted: fail with kUntrusted if the
/// policy verifies. Expires soon: warn or fail with kState.
Judgement judge_tls(const TlsFacts& facts, const TlsPolicy& policy);

}  // namespace wardmote::judge
