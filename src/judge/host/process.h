#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// One process, as the kernel shows it.
struct ProcessFacts {
  std::uint32_t pid = 0;
  std::string name;
  char state = '?';  ///< as ps(1) prints it
  Duration age{};
  std::uint32_t parent = 0;
  std::optional<std::uint64_t> rss;  ///< resident bytes
  friend bool operator==(const ProcessFacts&, const ProcessFacts&) = default;
};

/// The processes that match.
struct ProcessListFacts {
  std::size_t count = 0;
  std::vector<ProcessFacts> shown;  ///< the first ones, by pid
};

/// `stopped (T)`, `a zombie (Z)`, `waiting for the kernel (D)`; empty while it can run.
std::string_view stuck_words(char state) noexcept;
/// Whether the state is bad at once: waiting for the kernel is bad only when it lasts.
bool stuck_at_once(char state) noexcept;

/// How long a process has been waiting for the kernel (state D), as far as probes have seen.
class WaitingClock {
 public:
  /// Adds one probe; returns for how long every probe until this one found `pid` waiting.
  Duration feed(std::uint32_t pid, char state, TimePoint now) noexcept;

 private:
  std::uint32_t pid_ = 0;
  std::optional<TimePoint> since_;
};

struct ProcessPolicy {
  std::size_t least = 1;
  std::optional<std::size_t> most;
  std::optional<std::uint64_t> most_rss;  ///< bytes, of each process
  Duration min_uptime{};
  Duration longest_wait = std::chrono::seconds(10);  ///< in state D
};

/// `waiting`: from WaitingClock, for the process that has waited longest. Pure.
Judgement judge_processes(const ProcessListFacts& facts, const ProcessPolicy& policy,
                          Duration waiting);

}  // namespace wardmote::judge
