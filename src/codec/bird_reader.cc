#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "codec/bird.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kRoom = 4096;
constexpr std::size_t kQuoted = 120;
constexpr std::size_t kUnknownLines = 32;
constexpr std::size_t kUnknownLineBytes = 256;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

/// The code of `NNNN-…` and `NNNN …`.
std::optional<unsigned> code_of(std::string_view line) noexcept {
  if (line.size() < 5 || (line[4] != ' ' && line[4] != '-')) return std::nullopt;
  if (!std::ranges::all_of(line.substr(0, 4), is_digit)) return std::nullopt;
  return parse_number<unsigned>(line.substr(0, 4));
}

}  // namespace

std::span<char> BirdReader::room() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kRoom) buffer_.resize(std::max(2 * buffer_.size(), end_ + kRoom));
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<BirdLine>> BirdReader::next() {
  for (;;) {
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    const std::size_t length = held.find('\n');
    const std::size_t line_bytes = std::min(length, held.size());
    if (line_bytes > limits_.line_bytes)
      return fail(Errc::kLimit, "a line of more than {} bytes", limits_.line_bytes);
    if (reply_bytes_ + line_bytes > limits_.reply_bytes)
      return fail(Errc::kLimit, "a reply of more than {} bytes", limits_.reply_bytes);
    if (length == std::string_view::npos) return std::nullopt;
    begin_ += length + 1;
    reply_bytes_ += length + 1;
    Result<std::optional<BirdLine>> line = read_line(held.substr(0, length));
    if (!line || *line) return line;
  }
}

/// Nothing when the line is asynchronous.
Result<std::optional<BirdLine>> BirdReader::read_line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (std::ranges::any_of(text, is_control))
    return fail(Errc::kProtocol, "a control character in '{}'", escape_control(text, kQuoted));
  if (text.starts_with('+')) return std::nullopt;
  BirdLine line;
  if (const std::optional<unsigned> code = code_of(text)) {
    line = {*code, true, text[4] == ' ', text.substr(5)};
    code_ = code;
  } else if (text.starts_with(' ') && code_) {
    line = {*code_, false, false, text.substr(1)};
  } else {
    return fail(Errc::kProtocol, "not a line of BIRD: '{}'", escape_control(text, kQuoted));
  }
  ++lines_;
  if (line.last) {
    lines_ = 0;
    reply_bytes_ = 0;
    code_.reset();
  }
  return line;
}

void BirdUnknownLines::add(std::string_view line) {
  ++count;
  if (kept.size() < kUnknownLines) kept.emplace_back(line.substr(0, kUnknownLineBytes));
}

std::optional<Error> bird_refusal(const BirdLine& last) {
  constexpr unsigned kFirstError = 8000;
  constexpr unsigned kAccessDenied = 8007;
  if (!last.last || last.code < kFirstError) return std::nullopt;
  return Error{last.code == kAccessDenied ? Errc::kDenied : Errc::kRejected,
               fmt::format("{:04} {}", last.code, escape_control(last.text, kQuoted))};
}

}  // namespace wardmote::codec
