#include "codec/http2.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/bytes.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kHeader = 9;
constexpr std::size_t kLargestFrame = 16384;
constexpr std::size_t kRead = 4096;
constexpr std::size_t kQuoted = 32;

// RFC 9113 7.
constexpr std::array<std::string_view, 14> kErrors = {
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
};

}  // namespace

std::string encode(const Http2Frame& frame) {
  std::string bytes;
  for (int shift = 16; shift >= 0; shift -= 8)
    bytes += static_cast<char>(frame.payload.size() >> shift);
  bytes += static_cast<char>(frame.type);
  bytes += static_cast<char>(frame.flags);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(frame.stream >> shift);
  return bytes + frame.payload;
}

std::string encode_http2_settings() {
  Http2Frame settings;
  settings.type = static_cast<std::uint8_t>(Http2Type::kSettings);
  settings.payload.assign("\0\2\0\0\0\0", 6);  // SETTINGS_ENABLE_PUSH 0
  return encode(settings);
}

Result<std::string_view> http2_content(const Http2Frame& frame) {
  std::string_view content = frame.payload;
  std::size_t padding = 0;
  if ((frame.flags & kHttp2Padded) != 0) {
    if (content.empty()) return fail(Errc::kProtocol, "an HTTP/2 frame without its padding");
    padding = static_cast<unsigned char>(content.front());
    content.remove_prefix(1);
  }
  const bool priority = frame.is(Http2Type::kHeaders) && (frame.flags & kHttp2Priority) != 0;
  const std::size_t front = priority ? 5 : 0;
  if (content.size() < front + padding)
    return fail(Errc::kProtocol, "an HTTP/2 frame without its padding");
  return content.substr(front, content.size() - front - padding);
}

std::string http2_error_name(std::uint32_t code) {
  return code < kErrors.size() ? std::string(kErrors[code]) : fmt::format("error {}", code);
}

std::span<char> Http2Reader::room() {
  buffer_.resize(end_ + kRead);
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<Http2Frame>> Http2Reader::next() {
  const std::string_view held(buffer_.data(), end_);
  if (held.size() < kHeader) return std::nullopt;
  const std::size_t size = big_endian<std::uint32_t>(held) >> 8;
  Http2Frame frame;
  frame.type = static_cast<std::uint8_t>(held[3]);
  frame.flags = static_cast<std::uint8_t>(held[4]);
  frame.stream = big_endian<std::uint32_t>(held.substr(5)) & 0x7fffffffU;
  const bool is_preface = frame.is(Http2Type::kSettings) && frame.stream == 0 && size % 6 == 0;
  if (!begun_ && !is_preface) {
    return fail(Errc::kProtocol, "this is no HTTP/2: '{}'",
                escape_control(held.substr(0, kQuoted), kQuoted));
  }
  if (size > kLargestFrame) return fail(Errc::kLimit, "an HTTP/2 frame of {} bytes", size);
  begun_ = true;
  if (held.size() < kHeader + size) return std::nullopt;
  frame.payload = held.substr(kHeader, size);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(kHeader + size));
  end_ -= kHeader + size;
  return frame;
}

}  // namespace wardmote::codec
