// Replies of FRR on a vty socket: no crash, bounded work, the same in one piece and byte by byte.
#include <algorithm>
#include <string>
#include <vector>

#include "codec/frr.h"
#include "fuzz/fuzz_check.h"
#include "observe/frr/convert.h"

namespace {

using namespace wardmote;

std::vector<std::string> replies_of(std::string_view bytes, std::size_t step) {
  codec::VtyReader reader(1 << 16);
  std::vector<std::string> replies;
  for (;;) {
    const auto reply = reader.next();
    if (!reply) {
      replies.push_back(reply.error().describe());
      return replies;
    }
    if (*reply) {
      replies.push_back((*reply)->text + static_cast<char>((*reply)->status));
      continue;
    }
    if (bytes.empty()) return replies;
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({step, bytes.size(), room.size()});
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text(data, size);
  FUZZ_CHECK(replies_of(input, 1) == replies_of(input, 4096));
  observe::frr::Snapshot snapshot;
  if (auto resets = codec::parse_frr_resets(input)) snapshot.resets = *std::move(resets);
  if (auto summary = codec::parse_frr_summary(input)) {
    const std::size_t peers = summary->peers.size();
    snapshot.summary = *std::move(summary);
    FUZZ_CHECK(observe::frr::to_facts(std::move(snapshot)).sessions.size() <= peers);
  }
  return 0;
}
