#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace wardmote::judge::failover {

/// Room that each database keeps on its disk, in bytes: ovsdb-server appends each commit to its
/// file.
constexpr std::uint64_t kLeastRoom = std::uint64_t{1} << 20;

/// A database, and the disk that it is on.
struct StoredDatabase {
  std::string file;
  std::uint64_t device = 0;  ///< those of one disk have the same
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;  ///< of its disk
};

/// What is short before so many copies of each are made; empty: there is room. Databases on one
/// disk share what is free there.
std::string shortage(std::span<const StoredDatabase> databases, std::uint64_t copies);

}  // namespace wardmote::judge::failover
