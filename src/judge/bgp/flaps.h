#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/bgp/facts.h"

namespace wardmote::judge::bgp {

/// Counts how often each session was lost between two probes: it was established and is not any
/// more, or it has been established for less time than has passed since the last probe that showed
/// so.
class FlapCounter {
 public:
  /// Writes Session::flaps. A session that has been removed from the configuration is forgotten.
  void count(BgpFacts& facts, TimePoint now);

 private:
  struct Memory {
    bool established = false;
    std::uint64_t flaps = 0;
  };

  std::map<std::string, Memory, std::less<>> sessions_;
  std::optional<TimePoint> last_;
};

}  // namespace wardmote::judge::bgp
