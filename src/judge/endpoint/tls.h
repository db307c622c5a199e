#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// What a TLS handshake showed. Texts are of the peer's choice.
struct TlsFacts {
  Duration handshake_time{};  ///< with connecting
  std::string version;        ///< `TLSv1.3`
  std::string cipher;
  bool certificate = false;  ///< it showed one; else what follows is empty
  std::string subject;       ///< `CN=ctl-1,O=Open vSwitch`
  std::string issuer;
  std::vector<std::string> names;  ///< `dns:ctl-1.example`, `ip:10.0.0.1`, …
  WallTime not_after;              ///< the earliest end in the chain that it sent
  std::string first_to_expire;     ///< and whose that is
  Duration left{};                 ///< until then; negative afterwards
  bool trusted = false;
  std::string distrust;  ///< why it is not
};

/// What is asked of a server beyond a handshake.
struct TlsPolicy {
  bool verify = true;      ///< its certificate must be one that clients accept
  Duration warn_before{};  ///< so long before a certificate of its chain runs out
  Duration fail_before{};  ///< at most warn_before
};

/// Run out: fail with kExpired, whatever the policy. Not trusted: fail with kUntrusted where the
/// policy verifies. Soon to run out: warn or fail with kState.
Judgement judge_tls(const TlsFacts& facts, const TlsPolicy& policy);

}  // namespace wardmote::judge
