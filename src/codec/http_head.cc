#include "codec/http_head.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kQuoted = 60;

bool same_name(std::string_view name, std::string_view lower) noexcept {
  return std::ranges::equal(name, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace

Result<bool> HttpHeadReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    const std::size_t used = std::min(piece.size() + 1, bytes.size());
    bytes_ += used;
    if (bytes_ > limits_.bytes)
      return fail(Errc::kLimit, "a header of more than {} bytes", limits_.bytes);
    line_.append(piece);
    bytes.remove_prefix(used);
    if (end == std::string_view::npos) break;
    if (line_.ends_with('\r')) line_.pop_back();
    const Result<bool> whole = read_line(line_);
    line_.clear();
    if (!whole || *whole) return whole;
  }
  // Bytes that begin no status line will not become one.
  constexpr std::string_view kBegin = "HTTP/1.";
  const std::string_view begun = std::string_view(line_).substr(0, kBegin.size());
  if (head_.status == 0 && !kBegin.starts_with(begun))
    return fail(Errc::kProtocol, "malformed HTTP response '{}'", escape_control(line_, kQuoted));
  return false;
}

Result<bool> HttpHeadReader::read_line(std::string_view line) {
  if (head_.status == 0) {
    const Result<void> read = read_status(line);
    if (!read) return std::unexpected(read.error());
    return false;
  }
  if (!line.empty()) {
    const Result<void> read = read_field(line);
    if (!read) return std::unexpected(read.error());
    return false;
  }
  if (head_.status < 100 || head_.status > 199 || head_.status == 101) return true;
  if (++interim_ > limits_.interim)
    return fail(Errc::kProtocol, "more than {} interim answers", limits_.interim);
  head_ = {};
  content_length_.clear();
  return false;
}

/// `HTTP/1.1 200 OK`; exactly three digits.
Result<void> HttpHeadReader::read_status(std::string_view line) {
  std::string_view rest = line;
  std::optional<int> status;
  const bool version = consume_prefix(rest, "HTTP/1.1 ") || consume_prefix(rest, "HTTP/1.0 ");
  const std::string_view digits = take_until(rest, ' ');
  if (version && digits.size() == 3) status = parse_number<int>(digits);
  if (!status || *status <= 0)
    return fail(Errc::kProtocol, "malformed HTTP response '{}'", escape_control(line, kQuoted));
  head_.status = *status;
  return {};
}

Result<void> HttpHeadReader::read_field(std::string_view line) {
  if (++fields_ > limits_.fields)
    return fail(Errc::kLimit, "more than {} header fields", limits_.fields);
  std::string_view value = line;
  const std::string_view name = take_until(value, ':');
  if (name.size() == line.size() || name.empty() || name.contains(' '))
    return fail(Errc::kProtocol, "malformed header '{}'", escape_control(line, kQuoted));
  value = trim(value);
  if (same_name(name, "location")) head_.location = value;
  if (same_name(name, "content-length")) {
    if (!content_length_.empty() && content_length_ != value)
      return fail(Errc::kProtocol, "two lengths of content: '{}' and '{}'",
                  escape_control(content_length_, kQuoted), escape_control(value, kQuoted));
    content_length_ = value;
  }
  return {};
}

}  // namespace wardmote::codec
