#pragma once
// Shared by the parsers of BIRD's replies; for bird_*.cc only.

#include <algorithm>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "codec/bird.h"

namespace wardmote::codec {

/// Cuts the first word, and the white space around it, off the front of `rest`.
std::string_view take_bird_word(std::string_view& rest) noexcept;

/// `12`, `238.163`, with `/240` or `/-` after it.
std::optional<BirdTimer> read_bird_timer(std::string_view text) noexcept;

/// Feeds one whole reply to a parser and returns the parser's result.
template <class Parser>
auto parse_bird_reply(std::string_view reply) -> decltype(Parser().take()) {
  BirdReader reader;
  Parser parser;
  bool ended = false;
  for (;;) {
    const Result<std::optional<BirdLine>> line = reader.next();
    if (!line) return std::unexpected(line.error());
    if (!*line) {
      if (reply.empty()) break;
      const std::span<char> room = reader.room();
      const std::size_t size = std::min(room.size(), reply.size());
      std::ranges::copy(reply.substr(0, size), room.begin());
      reader.received(size);
      reply.remove_prefix(size);
      continue;
    }
    if (ended) return fail(Errc::kProtocol, "something follows the reply");
    const Result<void> read = parser.read(**line);
    if (!read) return std::unexpected(read.error());
    ended = (*line)->last;
  }
  if (!ended || reader.partial()) return fail(Errc::kProtocol, "the reply is cut short");
  return parser.take();
}

}  // namespace wardmote::codec
