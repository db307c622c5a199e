#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The types of frames (RFC 9113 6) that a client which asks has to know.
enum class Http2Type : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr std::uint8_t kHttp2EndStream = 0x1;
inline constexpr std::uint8_t kHttp2Ack = 0x1;
inline constexpr std::uint8_t kHttp2EndHeaders = 0x4;
inline constexpr std::uint8_t kHttp2Padded = 0x8;
inline constexpr std::uint8_t kHttp2Priority = 0x20;

struct Http2Frame {
  std::uint8_t type = 0;  ///< a Http2Type, or one that is not known here
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
  [[nodiscard]] bool is(Http2Type wanted) const noexcept {
    return type == static_cast<std::uint8_t>(wanted);
  }
  friend bool operator==(const Http2Frame&, const Http2Frame&) = default;
};

/// What a client says first.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string encode(const Http2Frame& frame);
/// A SETTINGS frame that says that nobody is to push to us.
std::string encode_http2_settings();

/// The content of a DATA or HEADERS frame without padding and priority. kProtocol.
Result<std::string_view> http2_content(const Http2Frame& frame);
/// `NO_ERROR`, `REFUSED_STREAM`, …; the number of one that is not known.
std::string http2_error_name(std::uint32_t code);

/// Cuts what comes from an HTTP/2 server into frames. Use: read bytes into room(), tell
/// received(), then call next() until it has no more.
class Http2Reader {
 public:
  /// Where to put the next bytes; never empty.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole frame, or nothing until more bytes come. kProtocol when the first is no
  /// SETTINGS frame (it is no HTTP/2), kLimit over the 16 KiB that we announce.
  Result<std::optional<Http2Frame>> next();
  [[nodiscard]] std::size_t held() const noexcept { return end_; }

 private:
  std::vector<char> buffer_;
  std::size_t end_ = 0;
  bool begun_ = false;
};

}  // namespace wardmote::codec
