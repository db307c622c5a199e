// What a database server says of its replication and of its global row: no crash, and what is
// understood is written and read back alike.
#include <algorithm>
#include <cstring>

#include "codec/content_digest.h"
#include "codec/ovn_global.h"
#include "codec/ovsdb_log.h"
#include "codec/sync_status.h"
#include "codec/unixctl_text.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const std::string_view bytes = fuzz::text(data, size);
  static_cast<void>(codec::last_change(bytes));
  const auto statuses = codec::parse_sync_status(bytes);
  if (statuses) {
    FUZZ_CHECK(!statuses->empty());
    const auto again = codec::parse_sync_status(codec::format(*statuses));
    FUZZ_CHECK(again && again->size() == statuses->size());
  }
  codec::JsonRpcReader reader;
  const std::span<char> room = reader.room();
  const std::size_t step = std::min(room.size(), bytes.size());
  std::memcpy(room.data(), bytes.data(), step);
  reader.received(step);
  codec::ContentTracker tracker;
  for (;;) {
    const auto next = reader.next();
    if (!next || !*next) return 0;
    if ((*next)->kind != codec::RpcMessage::Kind::kReply) {
      static_cast<void>(tracker.apply(**next));
      continue;
    }
    static_cast<void>(codec::read_tables(**next));
    if (tracker.begin(**next))
      FUZZ_CHECK(tracker.rows() != 0 || tracker.digest() == codec::Digest());
    static_cast<void>(codec::read_unixctl_text(**next));
    static_cast<void>(codec::read_global(**next));
    static_cast<void>(codec::read_connections(**next));
    static_cast<void>(codec::read_done(**next));
    static_cast<void>(codec::read_server_id(**next));
  }
}
