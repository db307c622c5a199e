// Replies of BIRD: no crash, bounded work, the same whether the bytes come at once or one by one.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codec/bird.h"
#include "fuzz/fuzz_check.h"
#include "observe/bird/convert.h"
#include "support/bird_transcript.h"

namespace {

using namespace wardmote;

/// Every line with its marks; the error as the last.
std::vector<std::string> lines_of(std::string_view bytes, std::size_t step) {
  codec::BirdReader reader;
  std::vector<std::string> lines;
  for (;;) {
    const auto line = reader.next();
    if (!line) {
      lines.push_back(line.error().describe());
      return lines;
    }
    if (*line) {
      lines.push_back(std::string((*line)->text) + ((*line)->last ? "!" : ""));
      continue;
    }
    if (bytes.empty()) return lines;
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({step, bytes.size(), room.size()});
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

void read_reply(std::string_view reply) {
  const auto protocols = codec::parse_bird_protocols(reply);
  if (protocols) {
    FUZZ_CHECK(protocols->unknown.kept.size() <= protocols->unknown.count);
    const auto facts = observe::bird::to_facts({}, *protocols);
    FUZZ_CHECK(facts.sessions.size() <= protocols->protocols.size());
  }
  const auto status = codec::parse_bird_status(reply);
  if (status) FUZZ_CHECK(!status->version.empty());
  FUZZ_CHECK(!status || !protocols);
  FUZZ_CHECK(lines_of(reply, 1) == lines_of(reply, 4096));
}

}  // namespace

/// The input is a reply, or a transcript of several as the captures are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text(data, size);
  read_reply(input);
  for (const testing::BirdExchange& exchange : testing::bird_exchanges_in(input, ""))
    read_reply(exchange.reply);
  return 0;
}
