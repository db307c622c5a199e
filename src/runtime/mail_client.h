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
    kStartTls,  ///< STARTTLS before anything else is sent; a server without it gets nothing
    kImplicit,  ///< from the first byte
    kNever
  };

  std::string server;  ///< host:port
  Tls tls = Tls::kStartTls;
  std::string trust;  ///< as HttpCall's
  std::string user;   ///< empty: no login
  std::string password;
  std::string helo;  ///< our own name in EHLO
  std::string from;
  std::vector<std::string> to;  ///< at least one
  std::string message;          ///< codec::format_mail()
};

/// A recipient whom the server did not accept.
struct MailRefusal {
  std::string address;
  bool for_ever = false;  ///< 5xx; else it may be accepted later
  std::string answer;     ///< the server's words, without control characters: `550 no such user`
};

/// The result of sending a message.
struct MailReceipt {
  std::vector<MailRefusal> refused;  ///< all other recipients have the message; if this lists every
                                     ///< recipient, nobody has it
};

/// Access to mail servers (SMTP). Production: net::CurlHttpClient. Thread: the core loop.
class MailClient {
 public:
  MailClient() = default;
  MailClient(const MailClient&) = delete;
  MailClient& operator=(const MailClient&) = delete;
  virtual ~MailClient() = default;

  /// Returns when the server has answered for each recipient, and has taken the message for those
  /// that it accepts. kRejected: the server will never take the message (5xx). kDenied: the server
  /// does not accept us for now (a password, a certificate). Else as HttpClient::call().
  virtual Task<Result<MailReceipt>> send(MailCall call, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
