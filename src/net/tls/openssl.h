#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace wardmote::net::tls {

struct Free {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, Free>;
using SslPtr = std::unique_ptr<SSL, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

/// OpenSSL keeps errors in a queue of the thread. The first error says what was wrong; the later
/// ones say how the callers passed it on.
struct QueuedError {
  int library = 0;
  int reason = 0;
  std::string text;  ///< OpenSSL's text in lower case; empty when there was no error
};

/// Takes the first error and empties the queue.
QueuedError take_error();

}  // namespace wardmote::net::tls
