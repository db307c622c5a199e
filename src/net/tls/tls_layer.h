#pragma once

#include <memory>

#include "runtime/tls.h"

namespace wardmote::net::tls {

/// TLS by OpenSSL. Only the agent links this folder: the command line is static and light.
std::unique_ptr<runtime::TlsLayer> make_tls_layer();

}  // namespace wardmote::net::tls
