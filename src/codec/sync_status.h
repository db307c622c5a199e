#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// What one database of an ovsdb-server is in active/backup replication, as
/// `ovsdb-server/sync-status` says (ovsdb/ovsdb-server.c, ovsdb/replication.c replication_status(),
/// OVS 2.6 to 3.7).
struct SyncStatus {
  enum class Link : std::uint8_t {
    kNone,         ///< not a backup
    kReplicating,  ///< it had the content of the source; the source may be gone by now
    kConnecting,
    kLost,    ///< `not connected to …`
    kFailed,  ///< `Replication to (…) failed`
  };

  std::string database;  ///< empty when the server does not say, as an active one of OVS before 3.3
  bool active = false;   ///< writable
  Link link = Link::kNone;
  std::string source;  ///< `tcp:10.0.0.1:6641`; empty for an active one
  friend bool operator==(const SyncStatus&, const SyncStatus&) = default;
};

/// Further databases are left out; a server of OVN has two at most.
inline constexpr std::size_t kMostSyncStatuses = 16;

/// All databases in the answer. OVS before 3.3 writes `state:` first and one block; later ones
/// write `database:` first, and one block for each database. kProtocol without a state that is
/// known.
Result<std::vector<SyncStatus>> parse_sync_status(std::string_view text);

/// What the answer says of this database: the block with its name, else the one without a name.
/// kMissing when the server answers for other databases only.
Result<SyncStatus> sync_status_of(std::string_view text, std::string_view database);

/// As `ovsdb-server/sync-status` of OVS 3.3 and later prints it.
std::string format(const std::vector<SyncStatus>& statuses);

}  // namespace wardmote::codec
