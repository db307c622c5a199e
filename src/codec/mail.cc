#include "codec/mail.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/digest.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kLongestLine = 76;  // RFC 2045 6.7, RFC 2047 2
constexpr std::size_t kWordBytes = 39;    // of UTF-8 in one encoded word of at most 75
constexpr std::size_t kLongestSubject = 512;
constexpr std::size_t kLongestAddress = 254;  // RFC 5321 4.5.3.1.3
constexpr std::size_t kIdBytes = 16;
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_plain(char c) noexcept {
  return c >= ' ' && c <= '~';
}

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < have ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= have ? kBase64[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

/// `Subject: …`, folded; words that are not plain ASCII are encoded.
std::string subject_lines(std::string_view subject) {
  const std::string safe = escape_control(subject, kLongestSubject);
  std::string line = "Subject:";
  if (std::ranges::all_of(safe, is_plain) && !safe.contains("=?")) {
    std::size_t width = line.size();
    std::string_view rest = safe;
    while (!rest.empty()) {
      const std::string_view word = take_until(rest, ' ');
      const bool fold = width + 1 + word.size() > kLongestLine && width > 0 && !word.empty();
      line += fold ? "\r\n " : " ";
      width = (fold ? 0 : width) + 1 + word.size();
      line += word;
    }
    return line + "\r\n";
  }
  std::string_view rest = safe;
  while (!rest.empty()) {
    std::size_t take = 0;
    while (take < rest.size()) {
      const std::size_t length = std::max<std::size_t>(1, decode_utf8(rest.substr(take)).length);
      if (take + length > kWordBytes) break;
      take += length;
    }
    line += fmt::format("{} =?utf-8?B?{}?=", rest.data() == safe.data() ? "" : "\r\n",
                        base64(rest.substr(0, take)));
    rest.remove_prefix(take);
  }
  return line + "\r\n";
}

/// `Fri, 20 Nov 2026 08:11:37 +0000` (RFC 5322 3.3).
std::string mail_date(WallTime at) {
  constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(at - day));
  return fmt::format(
      "{}, {} {} {} {:02}:{:02}:{:02} +0000", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

/// RFC 2045 6.7: bytes that are not plain become =XX, and no line is longer than 76.
std::string quoted_printable(std::string_view text) {
  std::string out;
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      out += "\r\n";
      width = 0;
      continue;
    }
    const bool last = i + 1 == text.size() || text[i + 1] == '\n';
    const bool plain = is_plain(c) && c != '=' && !(c == ' ' && last);
    const std::string piece =
        plain ? std::string(1, c) : fmt::format("={:02X}", static_cast<std::uint8_t>(c));
    if (width + piece.size() > kLongestLine - 1) {
      out += "=\r\n";
      width = 0;
    }
    out += piece;
    width += piece.size();
  }
  if (width > 0) out += "\r\n";
  return out;
}

bool is_word(std::string_view text, std::string_view more) noexcept {
  if (text.empty() || text.starts_with('.') || text.ends_with('.') || text.contains("..")) {
    return false;
  }
  return std::ranges::all_of(text, [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || more.contains(c);
  });
}

}  // namespace

std::string format_mail(const MailMessage& message) {
  std::string to;
  for (const std::string& address : message.to) {
    to += fmt::format("{}<{}>", to.empty() ? "" : ",\r\n ", address);
  }
  return fmt::format(
      "Date: {}\r\nFrom: Wardmote <{}>\r\nTo: {}\r\n{}Message-ID: <{}>\r\nReferences: <{}>\r\n"
      "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
      "Content-Type: text/plain; charset=utf-8\r\n"
      "Content-Transfer-Encoding: quoted-printable\r\n\r\n{}",
      mail_date(message.date), message.from, to, subject_lines(message.subject), message.message_id,
      message.thread_id, quoted_printable(message.text));
}

std::string mail_id(std::string_view key, std::string_view domain) {
  const Sha256 hash = sha256(key);
  std::string id;
  for (std::size_t i = 0; i < kIdBytes; ++i) id += fmt::format("{:02x}", hash[i]);
  const bool good = is_word(domain, ".-") && domain.size() <= kLongestAddress;
  return id + "@" + std::string(good ? domain : "wardmote.invalid");
}

bool is_mail_address(std::string_view text) noexcept {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || text.size() > kLongestAddress) return false;
  return is_word(text.substr(0, at), ".!#$%&'*+-/=?^_`{|}~") && is_word(text.substr(at + 1), ".-");
}

}  // namespace wardmote::codec
