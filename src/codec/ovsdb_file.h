#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

/// The first line of each record of a database file (ovsdb(5), File Formats):
/// `OVSDB CLUSTER 1234 SHA1`. A standalone database has JSON for CLUSTER.
struct OvsdbRecord {
  bool clustered = false;
  std::uint64_t bytes = 0;  ///< of the JSON that follows the line
  std::size_t line = 0;     ///< length of the line, with its end
};
/// kProtocol when it is no such line.
Result<OvsdbRecord> parse_ovsdb_record(std::string_view begin);

/// Of the first record of a clustered database (ovsdb/raft-private.h, struct raft_header).
struct OvsdbRaftHeader {
  std::string name;
  std::string server_id;
  std::string cluster_id;  ///< empty: it has not joined
  std::string local_address;
  bool joining = false;  ///< it has remote_addresses
};

/// Reads the header from the JSON of the first record, in pieces. The record holds a snapshot of
/// all data as well, so it can be larger than memory should hold: only the keys that are needed are
/// kept. Bounded memory; linear time.
class OvsdbHeaderReader {
 public:
  /// The next bytes of the JSON, at most once after done().
  Result<void> feed(std::string_view bytes);
  /// The whole object was read.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// After done(). kProtocol without a server id or a name.
  [[nodiscard]] Result<OvsdbRaftHeader> header() const;

 private:
  Result<void> take(char c);
  void end_text();

  OvsdbRaftHeader header_;
  std::string key_;   ///< of the outermost object, whose value comes now
  std::string text_;  ///< of the string that is being read, if it is wanted
  std::size_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool wanted_ = false;  ///< the string is one of the outermost object
  bool value_ = false;   ///< a value of the outermost object comes now
  bool done_ = false;
};

}  // namespace wardmote::codec
