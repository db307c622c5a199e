#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "codec/journal.h"
#include "codec/mail.h"
#include "fuzz/fuzz_check.h"

namespace codec = wardmote::codec;

/// Text of others in a subject, a body and a field: whatever it holds, it begins no header, ends no
/// message early, and begins no field.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(wardmote::fuzz::text(data, size));
  codec::MailMessage message;
  message.from = "w@example.org";
  message.to = {"a@example.org"};
  message.subject = text;
  message.text = text;
  message.message_id = codec::mail_id(text, text);
  message.thread_id = codec::mail_id("group", "example.org");
  const std::string mail = codec::format_mail(message);
  const std::size_t end = mail.find("\r\n\r\n");
  FUZZ_CHECK(end != std::string::npos);
  std::size_t headers = 0;
  for (std::string_view line : wardmote::split(mail, '\n')) {
    FUZZ_CHECK(line.empty() || line.ends_with('\r'));
    FUZZ_CHECK(line.size() <= 999);
  }
  for (const std::string_view line : wardmote::split(std::string_view(mail).substr(0, end), '\n')) {
    headers += line.starts_with(' ') ? 0U : 1U;
  }
  FUZZ_CHECK(headers == 10);
  for (const char c : mail) FUZZ_CHECK(c == '\r' || c == '\n' || (c >= ' ' && c <= '~'));
  const std::string entry = codec::format_journal({{"MESSAGE", text}, {"PRIORITY", "5"}});
  FUZZ_CHECK(entry.ends_with("PRIORITY=5\n"));
  FUZZ_CHECK(entry.size() <= text.size() + 32);
  return 0;
}
