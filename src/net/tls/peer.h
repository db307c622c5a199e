#pragma once

#include <openssl/types.h>

#include <string>

#include "base/result.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

/// Who the other side of a finished handshake is by its certificates. Whether they are trusted is
/// decided elsewhere.
runtime::TlsPeer describe_peer(SSL* ssl);

/// What a failed verification means: kExpired or kUntrusted, with a text of what was shown and what
/// was expected. `name` is the name that a client asked for.
Error distrust_of(X509_STORE_CTX* failed, const runtime::TlsSettings& settings,
                  const std::string& name);

}  // namespace wardmote::net::tls
