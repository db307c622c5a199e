#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/hpack.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kSymbols = 257;
constexpr unsigned kEnd = 256;
constexpr unsigned kLongest = 30;

/// How many bits the code of each symbol has (RFC 7541, Appendix B). The code is canonical, so that
/// the lengths say all.
constexpr std::array<std::uint8_t, kSymbols> kBits = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,
    7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,
    7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
};

/// A canonical code, by the length of its words.
struct Code {
  std::array<std::uint32_t, kLongest + 1> first{};  ///< the first word of each length
  std::array<std::uint32_t, kLongest + 1> count{};
  std::array<std::uint32_t, kLongest + 1> offset{};  ///< of its symbol in `symbols`
  std::array<std::uint16_t, kSymbols> symbols{};
};

consteval Code make_code() {
  Code code;
  for (const std::uint8_t bits : kBits) ++code.count[bits];
  std::uint32_t word = 0;
  std::uint32_t offset = 0;
  for (unsigned bits = 1; bits <= kLongest; ++bits) {
    word = (word + code.count[bits - 1]) << 1;
    code.first[bits] = word;
    code.offset[bits] = offset;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (kBits[symbol] == bits) code.symbols[offset++] = static_cast<std::uint16_t>(symbol);
    }
  }
  return code;
}

constexpr Code kCode = make_code();

}  // namespace

Result<std::string> decode_huffman(std::string_view bytes) {
  std::string text;
  std::uint32_t word = 0;
  unsigned bits = 0;
  bool only_ones = true;
  for (const char byte : bytes) {
    for (int shift = 7; shift >= 0; --shift) {
      const std::uint32_t bit = (static_cast<unsigned char>(byte) >> shift) & 1U;
      word = word << 1 | bit;
      only_ones = only_ones && bit == 1;
      if (++bits > kLongest) return fail(Errc::kProtocol, "a Huffman code that is none");
      if (word - kCode.first[bits] >= kCode.count[bits]) continue;
      const unsigned symbol = kCode.symbols[kCode.offset[bits] + word - kCode.first[bits]];
      if (symbol == kEnd) return fail(Errc::kProtocol, "the Huffman code of the end within a text");
      text += static_cast<char>(symbol);
      word = 0;
      bits = 0;
      only_ones = true;
    }
  }
  // Padding is the beginning of the code of the end: at most seven ones.
  if (bits > 7 || !only_ones) return fail(Errc::kProtocol, "a Huffman code that is cut");
  return text;
}

}  // namespace wardmote::codec
