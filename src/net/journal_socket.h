#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "runtime/journal.h"

namespace wardmote::net {

/// systemd-journald through its socket. The address is resolved for each entry, so a restarted
/// journald is found. Thread: any, one at a time.
class JournalSocket final : public runtime::Journal {
 public:
  explicit JournalSocket(std::string path) : path_(std::move(path)) {}

  Result<void> send(std::string_view entry) override;

 private:
  std::string path_;
};

}  // namespace wardmote::net
