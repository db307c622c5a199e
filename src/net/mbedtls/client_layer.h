#pragma once

#include <memory>

#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

/// TLS for a program that must start quickly and is linked statically: the client's side only, TLS
/// 1.2, with mbedTLS, which needs no setup before the first connection. Without `ca` it trusts the
/// CAs in /etc/ssl/certs/ca-certificates.crt. The agent uses net/tls.
std::unique_ptr<runtime::TlsLayer> make_client_layer();

}  // namespace wardmote::net::mbedtls
