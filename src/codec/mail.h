#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::codec {

/// One message, for people to read.
struct MailMessage {
  std::string from;             ///< addresses as is_mail_address() takes them
  std::vector<std::string> to;  ///< at least one
  std::string subject;          ///< any text
  std::string message_id;       ///< without the angle brackets, from mail_id()
  std::string thread_id;        ///< the first message of the thread; also from mail_id()
  WallTime date;
  std::string text;  ///< UTF-8; lines end in LF
};

/// RFC 5322 with CRLF, the text quoted-printable (RFC 2045 6.7), the subject in encoded words (RFC
/// 2047) where needed. No value can begin another header. The sender doubles leading full stops
/// (RFC 5321 4.5.2).
std::string format_mail(const MailMessage& message);

/// `HASH@domain`, always the same for the same `key`.
std::string mail_id(std::string_view key, std::string_view domain);

/// Whether the text is `local@domain` as RFC 5321 has it, without quotes, comments and other
/// alphabets; at most 254 bytes.
bool is_mail_address(std::string_view text) noexcept;

}  // namespace wardmote::codec
