#pragma once

#include <openssl/types.h>

#include <string>

#include "base/result.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

/// Who the other side of a finished handshake is, as far as its certificates say; whether they are
/// to be believed is known elsewhere.
runtime::TlsPeer describe_peer(SSL* ssl);

/// What the failure of a verification means: kExpired or kUntrusted, and in words what was shown
/// and what was expected. `name` is whom a client asked for.
Error distrust_of(X509_STORE_CTX* failed, const runtime::TlsSettings& settings,
                  const std::string& name);

}  // namespace wardmote::net::tls
