// What comes from a bus: no crash, bounded work, the same in one piece and byte by byte.
#include <algorithm>
#include <string_view>
#include <vector>

#include "codec/dbus.h"
#include "fuzz/fuzz_check.h"
#include "observe/systemd/convert.h"

namespace {

using namespace wardmote;

std::vector<codec::DbusMessage> messages_of(std::string_view bytes, std::size_t step) {
  codec::DbusReader reader(1 << 16);
  std::vector<codec::DbusMessage> messages;
  for (;;) {
    auto message = reader.next();
    if (!message) return messages;
    if (*message) {
      messages.push_back(**std::move(message));
      continue;
    }
    if (bytes.empty()) return messages;
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({step, bytes.size(), room.size()});
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::text(data, size);
  // The captures begin with the authentication.
  if (const std::size_t ok = input.find("OK "); ok != std::string_view::npos) {
    const std::size_t end = input.find("\r\n", ok);
    if (end != std::string_view::npos) input.remove_prefix(end + 2);
  }
  const auto messages = messages_of(input, 4096);
  FUZZ_CHECK(messages == messages_of(input, 1));
  for (const codec::DbusMessage& message : messages) {
    static_cast<void>(codec::parse_dbus_text(message));
    const auto properties = codec::parse_dbus_properties(message);
    if (!properties) continue;
    static_cast<void>(observe::systemd::to_facts({*properties, *properties}, WallTime()));
  }
  return 0;
}
