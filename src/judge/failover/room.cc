#include "judge/failover/room.h"

#include <cstdint>
#include <span>
#include <string>

#include "base/format.h"

namespace wardmote::judge::failover {

std::string shortage(std::span<const StoredDatabase> databases, std::uint64_t copies) {
  for (const StoredDatabase& one : databases) {
    std::uint64_t needed = 0;
    for (const StoredDatabase& other : databases) {
      if (other.device == one.device) needed += other.bytes * copies + kLeastRoom;
    }
    if (one.free_bytes < needed)
      return fmt::format("{} bytes are free beside {}, and {} are needed", one.free_bytes, one.file,
                         needed);
  }
  return {};
}

}  // namespace wardmote::judge::failover
