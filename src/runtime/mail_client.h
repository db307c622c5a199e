#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// One message to a mail server.
struct MailCall {
  enum class Tls : std::uint8_t {
    kStartTls,  ///< asked for before anything is said; without it, nothing is
    kWhole,     ///< from the first byte
    kNever
  };

  std::string server;  ///< host:port
  Tls tls = Tls::kStartTls;
  std::string trust;  ///< as HttpCall's
  std::string user;   ///< empty: nobody logs in
  std::string password;
  std::string helo;  ///< how we call ourselves
  std::string from;
  std::vector<std::string> to;  ///< at least one
  std::string message;          ///< codec::format_mail()
};

/// The door to mail servers (SMTP). Production: net::CurlHttpClient. Thread: the core loop.
class MailClient {
 public:
  MailClient() = default;
  MailClient(const MailClient&) = delete;
  MailClient& operator=(const MailClient&) = delete;
  virtual ~MailClient() = default;

  /// Done when the server has taken the message for all. kRejected: it will never take it (5xx);
  /// kDenied: nor us, for now (a password, a certificate); else as HttpClient::call().
  virtual Task<Result<void>> send(MailCall call, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
