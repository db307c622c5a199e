#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "advice/world.h"
#include "base/text.h"

namespace wardmote::advice {
namespace {

constexpr std::uint64_t kWorlds = 500;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::uint64_t>(text);
}

/// Plays WARDMOTE_SIM_MORE worlds, at most WARDMOTE_SIM_SEEDS, from seed WARDMOTE_SIM_FIRST on, or
/// the one in WARDMOTE_SIM_SEED. Stops at the first in which something live would have been harmed,
/// or something dead was never named; with WARDMOTE_SIM_ALL=1 it plays on and tells of each in a
/// line.
TEST(SimAdvice, NothingLiveIsNamedAndEverythingDeadIs) {
  const std::optional<std::uint64_t> only = from_environment("WARDMOTE_SIM_SEED");
  const std::uint64_t first = only.value_or(from_environment("WARDMOTE_SIM_FIRST").value_or(1));
  const std::uint64_t wanted = from_environment("WARDMOTE_SIM_MORE").value_or(kWorlds);
  const std::uint64_t most = from_environment("WARDMOTE_SIM_SEEDS").value_or(wanted);
  const std::uint64_t count = only ? 1 : std::min(wanted, most);
  const bool all = from_environment("WARDMOTE_SIM_ALL").value_or(0) != 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    World world(seed);
    const std::optional<std::string> fault = world.play();
    if (seed == first) {
      World again(seed);
      again.play();
      ASSERT_EQ(again.trace(), world.trace()) << "seed " << seed << " does not replay";
    }
    if (!fault) continue;
    if (all) {
      ADD_FAILURE() << "seed " << seed << ": " << *fault;
      continue;
    }
    FAIL() << *fault << "\nin the world of seed " << seed << "; replay: WARDMOTE_SIM_SEED=" << seed
           << " build/release/bin/advice\n"
           << world.story();
  }
}

}  // namespace
}  // namespace wardmote::advice
