#pragma once
// What only the host of an OVSDB server knows of its database.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// What the first record of a clustered database file says (ovsdb(5)): which server it is.
struct RaftHeaderFacts {
  std::string database;
  std::string server_id;
  std::string cluster_id;  ///< empty while it has not joined
  std::string address;
  bool joining = false;
  bool operator==(const RaftHeaderFacts&) const = default;
};

enum class DatabaseFileKind : std::uint8_t { kUnread, kStandalone, kClustered, kUnreadable };

struct DatabaseHostFacts {
  std::uint64_t file_bytes = 0;
  DatabaseFileKind kind = DatabaseFileKind::kUnread;
  std::string unreadable;  ///< why
  std::optional<RaftHeaderFacts> header;
  std::uint64_t free_bytes = 0;  ///< of its file system, for those who are not root
  std::uint64_t total_bytes = 0;
  std::uint64_t free_inodes = 0;
  std::uint64_t total_inodes = 0;   ///< 0: the file system does not count them
  std::optional<double> days_left;  ///< by how fast free space went; nothing: it does not shrink
  std::optional<bool> runs;         ///< the server, by its pid file
  std::vector<std::string> last_words;  ///< the last warnings and errors of its log
};

struct DatabaseHostPolicy {
  double least_days = 3;
  unsigned least_percent =
      10;                 ///< of bytes and of inodes; a warning below, bad below a third of it
  std::string server_id;  ///< the id that it should have; empty: any
};

/// How fast the free space of a file system shrinks. Databases grow and are compacted, so the least
/// of each hour counts. A value, bounded.
class SpaceTrend {
 public:
  /// Adds one look; returns in how many days nothing is free at the speed of the last hours.
  /// Nothing while it was looked at for less than kLeastHours, or while it does not shrink.
  std::optional<double> feed(std::uint64_t free_bytes, TimePoint now);

  static constexpr std::size_t kLeastHours = 6;
  static constexpr std::size_t kMostHours = 72;

 private:
  struct Hour {
    TimePoint begun;
    std::uint64_t least = 0;
  };
  std::vector<Hour> hours_;
};

/// Pure.
Judgement judge_database_host(const DatabaseHostFacts& facts, const DatabaseHostPolicy& policy);

}  // namespace wardmote::judge
