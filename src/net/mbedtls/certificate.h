#pragma once

#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

/// Whether `certificate` is made for the IP address `address`.
bool is_for_address(const mbedtls_x509_crt& certificate, const std::string& address);

/// Why `certificate` is not trusted, by the flags of mbedTLS; `ca` and `name` are the required
/// ones.
Error distrust_of(const mbedtls_x509_crt& certificate, std::uint32_t flags, const std::string& ca,
                  const std::string& name);

/// The peer's names after the handshake; says nothing about trust.
runtime::TlsPeer describe_peer(const mbedtls_ssl_context& ssl);

}  // namespace wardmote::net::mbedtls
