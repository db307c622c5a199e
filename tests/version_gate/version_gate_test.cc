#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.h"
#include "version_gate/world.h"

namespace wardmote::version_gate {
namespace {

constexpr std::uint64_t kWorlds = 2000;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::uint64_t>(text);
}

/// Plays WARDMOTE_SIM_MORE worlds, at most WARDMOTE_SIM_SEEDS, from seed WARDMOTE_SIM_FIRST on, or
/// the one in WARDMOTE_SIM_SEED.
TEST(SimVersionGate, NothingOldIsWrittenNobodyServesOnWhatDoesNotFitAndTheNewestLeads) {
  const std::optional<std::uint64_t> only = from_environment("WARDMOTE_SIM_SEED");
  const std::uint64_t first = only.value_or(from_environment("WARDMOTE_SIM_FIRST").value_or(1));
  const std::uint64_t wanted = from_environment("WARDMOTE_SIM_MORE").value_or(kWorlds);
  const std::uint64_t most = from_environment("WARDMOTE_SIM_SEEDS").value_or(wanted);
  const std::uint64_t count = only ? 1 : std::min(wanted, most);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    World world(seed);
    const std::optional<std::string> wrong = world.play();
    if (!wrong) continue;
    FAIL() << *wrong << "\nin the world of seed " << seed << "; replay: WARDMOTE_SIM_SEED=" << seed
           << " build/release/bin/version_gate\n"
           << world.story();
  }
}

}  // namespace
}  // namespace wardmote::version_gate
