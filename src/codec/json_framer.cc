#include <algorithm>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

constexpr bool is_json_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Whether the quote at `quote` belongs to its string: an odd number of backslashes precedes it.
bool is_escaped(std::span<const char> text, std::size_t quote) noexcept {
  std::size_t backslashes = 0;
  while (backslashes < quote && text[quote - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

}  // namespace

void JsonFramer::rest() noexcept {
  if (partial()) return;
  begin_ = scan_ = end_ = 0;
  buffer_ = std::vector<char>();  // = {} would keep the memory
}

std::span<char> JsonFramer::room() {
  if (begin_ == end_) {
    begin_ = scan_ = end_ = 0;
  } else if (begin_ > 0 && end_ == buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scan_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(std::max(limits_.room, 2 * buffer_.size()));
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<std::string_view>> JsonFramer::next() {
  if (depth_ == 0) {
    while (begin_ < end_ && is_json_space(buffer_[begin_])) ++begin_;
    scan_ = begin_;
    if (begin_ == end_) return std::nullopt;
    if (buffer_[begin_] != '{') {
      return fail(Errc::kProtocol, "byte {:#04x} where a JSON object begins",
                  static_cast<unsigned char>(buffer_[begin_]));
    }
  }
  const Result<bool> found = find_end();
  if (!found) return std::unexpected(found.error());
  if (scan_ - begin_ > limits_.message_bytes) {
    return fail(Errc::kLimit, "a message of more than {} bytes", limits_.message_bytes);
  }
  if (!*found) return std::nullopt;
  const std::string_view message(buffer_.data() + begin_, scan_ - begin_);
  begin_ = scan_;
  return message;
}

Result<bool> JsonFramer::find_end() {
  const char* const text = buffer_.data();
  while (scan_ < end_) {
    if (in_string_) {
      const void* const quote = std::memchr(text + scan_, '"', end_ - scan_);
      if (quote == nullptr) {
        scan_ = end_;
        break;
      }
      const auto at = static_cast<std::size_t>(static_cast<const char*>(quote) - text);
      in_string_ = is_escaped({text + begin_, at - begin_}, at - begin_);
      scan_ = at + 1;
      continue;
    }
    switch (text[scan_++]) {
      case '"': in_string_ = true; break;
      case '{':
      case '[':
        if (++depth_ > limits_.depth)
          return fail(Errc::kLimit, "JSON nested deeper than {}", limits_.depth);
        break;
      case '}':
      case ']':
        if (--depth_ == 0) return true;
        break;
      default: break;
    }
  }
  return false;
}

}  // namespace wardmote::codec
