#include "net/curl/job.h"

#include <curl/curl.h>

#include "base/result.h"
#include "net/system_error.h"

namespace wardmote::net {

Errc errc_of(CURLcode code, long system_error) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return Errc::kTimeout;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return Errc::kUnreachable;
    case CURLE_COULDNT_CONNECT:
      return system_error == 0 ? Errc::kRefused : to_errc(static_cast<int>(system_error));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR: return Errc::kDenied;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: return Errc::kClosed;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_LOGIN_DENIED: return Errc::kInvalid;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_SSL_CONNECT_ERROR: return Errc::kProtocol;
    case CURLE_OUT_OF_MEMORY: return Errc::kExhausted;
    default: return Errc::kInternal;
  }
}

}  // namespace wardmote::net
