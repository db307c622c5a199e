#include "net/tls/openssl.h"

#include <openssl/err.h>

namespace wardmote::net::tls {

QueuedError take_error() {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* const text = ERR_reason_error_string(first);
  return {ERR_GET_LIB(first), ERR_GET_REASON(first), text == nullptr ? "" : text};
}

}  // namespace wardmote::net::tls
