#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "failover/world.h"
#include "judge/failover/decision.h"

namespace wardmote::failover {
namespace {

using judge::failover::Row;

constexpr std::uint64_t kWorlds = 2000;
constexpr std::uint64_t kWorldsWithoutGuard = 3000;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::uint64_t>(text);
}

/// Plays WARDMOTE_SIM_MORE worlds, at most WARDMOTE_SIM_SEEDS, from seed WARDMOTE_SIM_FIRST on, or
/// the one in WARDMOTE_SIM_SEED.
TEST(SimFailover, NobodyIsWritableTwiceAndNothingOldIsPromotedAndAllEndsWell) {
  const std::optional<std::uint64_t> only = from_environment("WARDMOTE_SIM_SEED");
  const std::uint64_t first = only.value_or(from_environment("WARDMOTE_SIM_FIRST").value_or(1));
  const std::uint64_t wanted = from_environment("WARDMOTE_SIM_MORE").value_or(kWorlds);
  const std::uint64_t most = from_environment("WARDMOTE_SIM_SEEDS").value_or(wanted);
  const std::uint64_t count = only ? 1 : std::min(wanted, most);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    World world(seed, judge::failover::decisions());
    const std::optional<std::string> wrong = world.play();
    if (!wrong) continue;
    FAIL() << *wrong << "\nin the world of seed " << seed << "; replay: WARDMOTE_SIM_SEED=" << seed
           << " build/release/bin/failover\n"
           << world.story();
  }
}

/// Rows of the table without which data is lost, two nodes are writable, or nobody follows. The
/// other rows that refuse are second lines here: the score keeps such a copy from being elected.
TEST(SimFailover, EachGuardIsMissedWhenItIsGone) {
  const std::uint64_t worlds = from_environment("WARDMOTE_SIM_SEEDS").value_or(kWorldsWithoutGuard);
  if (worlds < kWorldsWithoutGuard) return;  // under sanitizers: too slow, and nothing new
  for (const std::string guard :
       {"a server is hung, and may be writable when it goes on",
        "this copy is writable, and another node is the active one",
        "this node gives up being the active one", "another copy was promoted after this one",
        "another node is the active one"}) {
    std::vector<Row> table;
    for (const Row& row : judge::failover::decisions()) {
      if (row.decision.reason != guard) table.push_back(row);
    }
    ASSERT_LT(table.size(), judge::failover::decisions().size()) << guard;
    bool noticed = false;
    for (std::uint64_t seed = 1; seed <= worlds && !noticed; ++seed)
      noticed = World(seed, table).play().has_value();
    EXPECT_TRUE(noticed) << "nobody misses the guard: " << guard;
  }
}

}  // namespace
}  // namespace wardmote::failover
