// Framing and messages: no crash, bounded memory, and the same messages however the stream is cut.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "codec/json_rpc.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

constexpr codec::FrameLimits kLimits{.message_bytes = 4096, .depth = 16};

struct Heard {
  std::vector<std::string> messages;
  bool failed = false;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard hear(std::string_view bytes, std::size_t step) {
  codec::JsonFramer framer(kLimits);
  Heard heard;
  while (!bytes.empty() && !heard.failed) {
    const std::span<char> room = framer.room();
    const std::size_t size = std::min({room.size(), bytes.size(), step});
    FUZZ_CHECK(!room.empty() && room.size() < 8 * kLimits.message_bytes);
    std::memcpy(room.data(), bytes.data(), size);
    framer.received(size);
    bytes.remove_prefix(size);
    for (;;) {
      const auto message = framer.next();
      heard.failed = !message.has_value();
      if (heard.failed || !*message) break;
      heard.messages.emplace_back(**message);
    }
  }
  return heard;
}

void read_messages(std::string_view bytes) {
  codec::JsonRpcReader reader(kLimits);
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    reader.received(size);
    bytes.remove_prefix(size);
    for (;;) {
      const auto message = reader.next();
      if (!message) return;
      if (!*message) break;
      static_cast<void>((*message)->answers(1));
      std::string reply;
      if ((*message)->kind == codec::RpcMessage::Kind::kRequest)
        codec::append_echo_reply(reply, **message);
      if ((*message)->kind == codec::RpcMessage::Kind::kReply)
        static_cast<void>(codec::result_of(**message));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text(data, size);
  const Heard whole = hear(bytes, bytes.size() + 1);
  if (!whole.failed) FUZZ_CHECK(hear(bytes, 1) == whole && hear(bytes, 7) == whole);
  read_messages(bytes);
  return 0;
}
