// OVSDB replies and updates of a peer that says what it likes: no crash, and a row never comes out
// of nothing.
#include <algorithm>
#include <cstring>

#include "codec/ovsdb.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  std::string_view bytes = fuzz::text(data, size);
  static_cast<void>(codec::parse_query_output(bytes));
  codec::JsonRpcReader reader;
  codec::ServerRowTracker tracker("OVN_Northbound");
  auto flavour = codec::MonitorFlavour::kMonitorCondSince;
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t step = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), step);
    reader.received(step);
    bytes.remove_prefix(step);
    for (;;) {
      const auto next = reader.next();
      if (!next) return 0;
      if (!*next) break;
      const codec::RpcMessage& message = **next;
      if (message.kind != codec::RpcMessage::Kind::kReply) {
        static_cast<void>(tracker.apply(message));
        continue;
      }
      static_cast<void>(codec::read_server_row(message));
      const Result<void> begun = tracker.begin(flavour, message);
      if (!begun) FUZZ_CHECK(!tracker.row() || tracker.row()->name == "OVN_Northbound");
      flavour = flavour == codec::MonitorFlavour::kMonitorCondSince
                    ? codec::MonitorFlavour::kMonitor
                    : codec::MonitorFlavour::kMonitorCondSince;
    }
  }
  return 0;
}
