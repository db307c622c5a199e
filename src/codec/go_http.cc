#include "codec/go_http.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kMostHeaderBytes = 10 << 20;
constexpr int kMostInterim = 5;
constexpr std::size_t kQuoted = 120;

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view name, std::string_view lower) noexcept {
  return std::ranges::equal(name, lower, [](char a, char b) { return to_lower(a) == b; });
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view trim_blanks(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Go accepts a blank in a name, also before the colon.
bool is_name(std::string_view name) noexcept {
  return std::ranges::all_of(name, [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~ ").contains(c);
  });
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : " ") + go_quoted(text);
  return "[" + list + "]";
}

}  // namespace

std::string go_quoted(std::string_view text) {
  constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kLetters = "abfnrtv\"\\";
  std::string quoted = "\"";
  text = text.substr(0, kQuoted);
  while (!text.empty()) {
    const std::size_t at = kEscaped.find(text.front());
    const CodePoint point = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (at != std::string_view::npos) {
      quoted += {'\\', kLetters[at]};
    } else if (point.length == 0 || point.value < 0x20 || point.value == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_hostile(point.value)) {
      quoted += fmt::format("\\u{:04x}", point.value);
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return quoted + "\"";
}

Result<void> GoHttpReader::take(std::string_view bytes) {
  begun_ = begun_ || !bytes.empty();
  size_ += bytes.size();
  while (!bytes.empty() && !done_) {
    const std::size_t end = bytes.find('\n');
    held_ += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    std::string line = std::exchange(held_, {});
    if (line.ends_with('\r')) line.pop_back();
    if (Result<void> read = read_line(line); !read) return read;
  }
  if (!done_ && size_ > kMostHeaderBytes) {
    return fail(Errc::kLimit, "net/http: server response headers exceeded {} bytes; aborted",
                kMostHeaderBytes);
  }
  return {};
}

Result<void> GoHttpReader::closed() {
  if (status_ == 0 && !held_.empty()) {
    const std::string line = std::exchange(held_, {});
    if (Result<void> read = read_status(line); !read) return read;
  }
  return fail(Errc::kClosed, "{}", begun_ ? "half an answer" : "no answer");
}

Result<void> GoHttpReader::read_line(std::string_view line) {
  if (status_ == 0) return read_status(line);
  return line.empty() ? end_head() : read_header(line);
}

Result<void> GoHttpReader::read_status(std::string_view line) {
  std::string_view rest = line;
  const std::string_view version = take_until(rest, ' ');
  if (version.size() == line.size())
    return fail(Errc::kProtocol, "malformed HTTP response {}", go_quoted(line));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view code = take_until(rest, ' ');
  const auto status = parse_number<int>(code);
  if (code.size() != 3 || !status || *status < 0)
    return fail(Errc::kProtocol, "malformed HTTP status code {}", go_quoted(code));
  const bool known = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
                     version[6] == '.' && is_digit(version[7]);
  if (!known) return fail(Errc::kProtocol, "malformed HTTP version {}", go_quoted(version));
  modern_ = version.substr(5) >= "1.1";
  status_ = *status;
  return {};
}

Result<void> GoHttpReader::read_header(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {
    if (headers_.empty())
      return fail(Errc::kProtocol, "malformed MIME header initial line: {}",
                  escape_control(line, kQuoted));
    headers_.back().value.append(" ").append(trim_blanks(line));
    return {};
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return fail(Errc::kProtocol, "malformed MIME header: missing colon: {}", go_quoted(line));
  const std::string_view name = line.substr(0, colon);
  if (!is_name(name))
    return fail(Errc::kProtocol, "malformed MIME header line: {}", escape_control(line, kQuoted));
  headers_.push_back({std::string(name), std::string(trim_blanks(line.substr(colon + 1)))});
  return {};
}

Result<void> GoHttpReader::end_head() {
  constexpr int kSwitchingProtocols = 101;
  if (status_ >= 100 && status_ < 200 && status_ != kSwitchingProtocols) {
    if (++interim_ > kMostInterim)
      return fail(Errc::kLimit, "net/http: too many 1xx informational responses");
    status_ = 0;
    headers_.clear();
    return {};
  }
  if (Result<void> framed = check_length(); !framed) return framed;
  const std::vector<std::string> locations = values("location");
  if (!locations.empty()) location_ = locations.front();
  done_ = true;
  return {};
}

/// readTransfer(): wrong framing of a body fails the answer, whether the body is read or not.
Result<void> GoHttpReader::check_length() {
  const std::vector<std::string> codings = values("transfer-encoding");
  if (modern_ && !codings.empty()) {
    if (codings.size() != 1)
      return fail(Errc::kProtocol, "too many transfer encodings: {}", quoted_list(codings));
    if (!same_name(codings.front(), "chunked"))
      return fail(Errc::kProtocol, "unsupported transfer encoding: {}", go_quoted(codings.front()));
    return {};
  }
  const std::vector<std::string> lengths = values("content-length");
  if (lengths.empty()) return {};
  const bool differ = std::ranges::any_of(
      lengths, [&](const std::string& length) { return length != lengths.front(); });
  if (differ)
    return fail(Errc::kProtocol,
                "http: message cannot contain multiple Content-Length headers; got {}",
                quoted_list(lengths));
  const bool bodiless = status_ < 200 || status_ == 204 || status_ == 304;
  const auto length = parse_number<std::uint64_t>(lengths.front());
  const bool fits = length && *length <= INT64_MAX;
  if (!bodiless && !lengths.front().empty() && !fits)
    return fail(Errc::kProtocol, "bad Content-Length {}", go_quoted(lengths.front()));
  return {};
}

std::vector<std::string> GoHttpReader::values(std::string_view lower) const {
  std::vector<std::string> found;
  for (const Header& header : headers_) {
    if (same_name(header.name, lower)) found.push_back(header.value);
  }
  return found;
}

}  // namespace wardmote::codec
