#include "codec/http_answer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::string_view kBegin = "HTTP/1.";
constexpr std::size_t kLongestChunkLine = 1024;
/// Digits of a length or a chunk size that fit into 60 bits.
constexpr std::size_t kMostDigits = 15;

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// RFC 9110 5.6.2.
bool is_token(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

/// A line without its end.
std::string_view take_line(std::string_view& rest) noexcept {
  std::string_view line = take_until(rest, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// One past the empty line that ends the header, or 0. Searches from `from` on.
std::size_t head_end(std::string_view text, std::size_t from) noexcept {
  for (std::size_t at = text.find('\n', from); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return 0;
}

Result<int> read_status_line(std::string_view line) {
  constexpr std::size_t kStatus = 9;  // HTTP/1.1 SP
  const auto refuse = [&] {
    return fail(Errc::kProtocol, "no HTTP answer: '{}'", escape_control(line, 64));
  };
  if (!line.starts_with(kBegin) || line.size() < kStatus + 3) return refuse();
  if (!is_digit(line[kBegin.size()]) || line[kStatus - 1] != ' ') return refuse();
  const std::string_view digits = line.substr(kStatus, 3);
  const bool ends = line.size() == kStatus + 3 || line[kStatus + 3] == ' ';
  if (!std::ranges::all_of(digits, is_digit) || !ends) return refuse();
  return *parse_number<int>(digits);
}

bool has_word(std::string_view list, std::string_view word) {
  for (const std::string_view item : split(list, ',')) {
    if (lower(trim(item)) == word) return true;
  }
  return false;
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const noexcept {
  const auto found = std::ranges::find(
      headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

Result<void> HttpAnswerReader::take(std::string_view bytes) {
  while (!bytes.empty() && !complete()) {
    const Result<void> taken = part_ == Part::kHead ? take_head(bytes) : take_body(bytes);
    if (!taken) return taken;
  }
  // The caller did not want more: it must not see the rest.
  if (!bytes.empty()) reusable_ = false;
  return {};
}

Result<void> HttpAnswerReader::closed() {
  if (part_ == Part::kUntilClose) part_ = Part::kDone;
  if (complete()) return {};
  if (part_ == Part::kHead && pending_.empty()) return fail(Errc::kClosed, "it answered nothing");
  return fail(Errc::kClosed, "{} is cut short", part_ == Part::kHead ? "its header" : "its body");
}

Result<void> HttpAnswerReader::take_head(std::string_view& bytes) {
  pending_ += bytes;
  bytes = {};
  const std::string_view begin = std::string_view(pending_).substr(0, kBegin.size());
  if (!kBegin.starts_with(begin)) {
    return fail(Errc::kProtocol, "no HTTP answer: '{}'", escape_control(pending_, 64));
  }
  const std::size_t end = head_end(pending_, scanned_);
  // The end may begin in the present bytes and continue in the next ones.
  scanned_ = pending_.size() - std::min<std::size_t>(pending_.size(), 2);
  if (end == 0 ? pending_.size() > limits_.header_bytes : end > limits_.header_bytes) {
    return fail(Errc::kLimit, "a header of more than {} bytes", limits_.header_bytes);
  }
  if (end == 0) return {};
  const std::string whole = std::exchange(pending_, {});
  scanned_ = 0;
  const std::string_view all = whole;
  if (Result<void> read = read_head(all.substr(0, end)); !read) return read;
  return take(all.substr(end));
}

Result<void> HttpAnswerReader::read_head(std::string_view head) {
  const std::string_view status_line = take_line(head);
  const Result<int> status = read_status_line(status_line);
  if (!status) return std::unexpected(status.error());
  answer_ = {};
  answer_.status = *status;
  for (std::string_view line = take_line(head); !line.empty(); line = take_line(head)) {
    const std::string_view name = line.substr(0, line.find(':'));
    if (name.size() == line.size() || !is_token(name)) {
      return fail(Errc::kProtocol, "no header: '{}'", escape_control(line, 64));
    }
    if (answer_.headers.size() == limits_.headers)
      return fail(Errc::kLimit, "more than {} headers", limits_.headers);
    answer_.headers.emplace_back(lower(name), trim(line.substr(name.size() + 1)));
  }
  constexpr int kSwitchingProtocols = 101;
  if (*status >= 100 && *status < 200 && *status != kSwitchingProtocols) {
    if (++interim_ > limits_.interim)
      return fail(Errc::kLimit, "more than {} interim answers", limits_.interim);
    return {};
  }
  const std::string_view connection = answer_.header("connection");
  const bool modern = !status_line.starts_with("HTTP/1.0");
  keep_alive_ = modern ? !has_word(connection, "close") : has_word(connection, "keep-alive");
  return frame_body();
}

/// RFC 9112 6.3.
Result<void> HttpAnswerReader::frame_body() {
  const int status = answer_.status;
  const std::string_view coding = answer_.header("transfer-encoding");
  const std::string_view length = answer_.header("content-length");
  if (!coding.empty() && !length.empty())
    return fail(Errc::kProtocol, "both a length and a transfer coding");
  if (without_body_ || status < 200 || status == 204 || status == 304) {
    part_ = Part::kDone;
    reusable_ = keep_alive_;
    return {};
  }
  if (!coding.empty()) {
    // We did not ask for another coding, and cannot decode it.
    if (lower(coding) != "chunked")
      return fail(Errc::kProtocol, "the transfer coding '{}' is not known",
                  escape_control(coding, 64));
    part_ = Part::kChunkSize;
    return {};
  }
  if (!length.empty()) return frame_by_length(length);
  part_ = Part::kUntilClose;
  return {};
}

Result<void> HttpAnswerReader::frame_by_length(std::string_view length) {
  for (const auto& [name, value] : answer_.headers) {
    if (name == "content-length" && value != length)
      return fail(Errc::kProtocol, "two lengths: {} and {}", escape_control(length, 20),
                  escape_control(value, 20));
  }
  const auto number = parse_number<std::uint64_t>(length);
  if (!number || length.size() > kMostDigits)
    return fail(Errc::kProtocol, "no length: '{}'", escape_control(length, 64));
  left_ = *number;
  part_ = left_ == 0 ? Part::kDone : Part::kLength;
  reusable_ = keep_alive_;
  return {};
}

Result<void> HttpAnswerReader::take_body(std::string_view& bytes) {
  switch (part_) {
    case Part::kLength:
    case Part::kChunk: {
      const auto size = std::min<std::uint64_t>(left_, bytes.size());
      add_to_body(bytes.substr(0, size));
      bytes.remove_prefix(size);
      left_ -= size;
      if (left_ == 0 && !complete()) part_ = part_ == Part::kChunk ? Part::kChunkEnd : Part::kDone;
      return {};
    }
    case Part::kUntilClose:
      add_to_body(bytes);
      bytes = {};
      return {};
    case Part::kChunkSize:
    case Part::kChunkEnd:
    case Part::kTrailer: return take_chunk_line(bytes);
    case Part::kHead:
    case Part::kDone: break;
  }
  return {};
}

Result<void> HttpAnswerReader::take_chunk_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  pending_ += bytes.substr(0, end);
  if (pending_.size() > kLongestChunkLine) return fail(Errc::kProtocol, "no end of a chunk's line");
  if (end == std::string_view::npos) {
    bytes = {};
    return {};
  }
  bytes.remove_prefix(end + 1);
  const std::string whole = std::exchange(pending_, {});
  std::string_view line = whole;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (part_ == Part::kChunkEnd) {
    if (!line.empty()) return fail(Errc::kProtocol, "a chunk is longer than it says");
    part_ = Part::kChunkSize;
    return {};
  }
  return part_ == Part::kTrailer ? read_trailer(line) : read_chunk_size(line);
}

Result<void> HttpAnswerReader::read_chunk_size(std::string_view line) {
  const std::string_view digits = trim(line.substr(0, line.find(';')));
  const auto size = parse_number<std::uint64_t>(digits, 16);
  if (!size || digits.size() > kMostDigits)
    return fail(Errc::kProtocol, "no size of a chunk: '{}'", escape_control(digits, 32));
  left_ = *size;
  part_ = left_ == 0 ? Part::kTrailer : Part::kChunk;
  return count_extra(line.size() - digits.size());
}

/// Trailers are not used. They are counted, so that a server cannot send them for ever.
Result<void> HttpAnswerReader::read_trailer(std::string_view line) {
  if (line.empty()) {
    part_ = Part::kDone;
    reusable_ = keep_alive_;
    return {};
  }
  if (++trailers_ > limits_.headers)
    return fail(Errc::kLimit, "more than {} trailers", limits_.headers);
  return count_extra(line.size());
}

Result<void> HttpAnswerReader::count_extra(std::size_t bytes) {
  extra_bytes_ += bytes;
  if (extra_bytes_ <= limits_.header_bytes) return {};
  return fail(Errc::kLimit, "trailers and chunk extensions of more than {} bytes",
              limits_.header_bytes);
}

void HttpAnswerReader::add_to_body(std::string_view bytes) {
  const std::size_t room = limits_.body_bytes - answer_.body.size();
  answer_.body += bytes.substr(0, room);
  if (bytes.size() <= room) return;
  answer_.cut = true;
  part_ = Part::kDone;
  reusable_ = false;
}

std::string format_http_request(std::string_view method, std::string_view target,
                                std::string_view host, bool keep_open,
                                const std::vector<std::string>& headers) {
  const bool has_host = std::ranges::any_of(
      headers, [](const std::string& header) { return lower(header).starts_with("host:"); });
  std::string request = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  if (!has_host) request += fmt::format("Host: {}\r\n", host);
  request += fmt::format("User-Agent: wardmote\r\nAccept: */*\r\nConnection: {}\r\n",
                         keep_open ? "keep-alive" : "close");
  for (const std::string& header : headers) request += header + "\r\n";
  return request + "\r\n";
}

}  // namespace wardmote::codec
