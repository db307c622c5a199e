#pragma once

#include <string_view>

#include "base/result.h"

namespace wardmote::runtime {

/// Access to systemd's journal. Production: net::JournalSocket. Thread: the core loop.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  virtual ~Journal() = default;

  /// Sends one entry (codec::format_journal()) without waiting. kMissing or kRefused: there is no
  /// journal; kExhausted: the journal does not keep up.
  virtual Result<void> send(std::string_view entry) = 0;
};

}  // namespace wardmote::runtime
