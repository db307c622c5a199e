#include "runtime/disk.h"

#include "runtime/files.h"

namespace wardmote::runtime {

Disk* disk_of(Files& files) noexcept {
  return dynamic_cast<Disk*>(&files);
}

}  // namespace wardmote::runtime
