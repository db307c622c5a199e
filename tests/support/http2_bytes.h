#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/bytes.h"
#include "codec/http2_session.h"

namespace wardmote::testing {

/// A frame (RFC 9113 4.1) as the test wants it, right or wrong.
struct Http2Frame {
  std::uint8_t type = 0;  ///< 0 DATA, 1 HEADERS, 3 RST_STREAM, 4 SETTINGS, 6 PING, 7 GOAWAY, …
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
  friend bool operator==(const Http2Frame&, const Http2Frame&) = default;
};

inline constexpr std::uint8_t kEndStream = 0x1;
inline constexpr std::uint8_t kEndHeaders = 0x4;
inline constexpr std::size_t kHttp2Preface = 24;  ///< bytes that a client sends first

inline std::string encode(const Http2Frame& frame) {
  std::string bytes;
  for (int shift = 16; shift >= 0; shift -= 8)
    bytes += static_cast<char>(frame.payload.size() >> shift);
  bytes += static_cast<char>(frame.type);
  bytes += static_cast<char>(frame.flags);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(frame.stream >> shift);
  return bytes + frame.payload;
}

inline std::string encode(const std::vector<Http2Frame>& frames) {
  std::string bytes;
  for (const Http2Frame& frame : frames) bytes += encode(frame);
  return bytes;
}

/// Takes a whole frame off the front of `bytes`.
inline std::optional<Http2Frame> take_frame(std::string& bytes) {
  constexpr std::size_t kHeader = 9;
  if (bytes.size() < kHeader) return std::nullopt;
  const std::string_view held = bytes;
  const std::size_t size = codec::big_endian<std::uint32_t>(held) >> 8;
  if (held.size() < kHeader + size) return std::nullopt;
  Http2Frame frame{static_cast<std::uint8_t>(held[3]), static_cast<std::uint8_t>(held[4]),
                   codec::big_endian<std::uint32_t>(held.substr(5)) & 0x7fffffffU,
                   std::string(held.substr(kHeader, size))};
  bytes.erase(0, kHeader + size);
  return frame;
}

/// All of `bytes`, without the preface of a client.
inline std::vector<Http2Frame> frames_in(std::string bytes) {
  if (bytes.starts_with("PRI")) bytes.erase(0, kHttp2Preface);
  std::vector<Http2Frame> frames;
  while (auto frame = take_frame(bytes)) frames.push_back(*std::move(frame));
  return frames;
}

/// Text in a header block (RFC 7541 5.2), not compressed.
inline std::string hpack_text(std::string_view text) {
  std::string bytes;
  std::size_t size = text.size();
  if (size < 0x7f) {
    bytes += static_cast<char>(size);
  } else {
    bytes += '\x7f';
    for (size -= 0x7f; size >= 0x80; size >>= 7) bytes += static_cast<char>(0x80 | (size & 0x7f));
    bytes += static_cast<char>(size);
  }
  return bytes.append(text);
}

/// A header block whose fields no table remembers (RFC 7541 6.2.2).
inline std::string hpack_block(const codec::HeaderFields& fields) {
  std::string block;
  for (const codec::HeaderField& field : fields)
    block.append(1, '\0').append(hpack_text(field.name)).append(hpack_text(field.value));
  return block;
}

inline Http2Frame headers_frame(std::uint32_t stream, const codec::HeaderFields& fields,
                                bool end = false) {
  const auto flags = static_cast<std::uint8_t>(kEndHeaders | (end ? kEndStream : 0));
  return {1, flags, stream, hpack_block(fields)};
}

}  // namespace wardmote::testing
