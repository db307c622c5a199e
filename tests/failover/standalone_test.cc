#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "failover/standalone_world.h"
#include "judge/failover/duty.h"

namespace wardmote::failover {
namespace {

using judge::failover::DutyRow;

constexpr std::uint64_t kWorlds = 2000;
constexpr std::uint64_t kWorldsWithoutGuard = 800;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::uint64_t>(text);
}

/// Plays WARDMOTE_SIM_MORE worlds, at most WARDMOTE_SIM_SEEDS, from seed WARDMOTE_SIM_FIRST on, or
/// the one in WARDMOTE_SIM_SEED.
TEST(SimStandalone, OneHasTheAddressAndNothingOldIsPromotedAndAllEndsWell) {
  const std::optional<std::uint64_t> only = from_environment("WARDMOTE_SIM_SEED");
  const std::uint64_t first = only.value_or(from_environment("WARDMOTE_SIM_FIRST").value_or(1));
  const std::uint64_t wanted = from_environment("WARDMOTE_SIM_MORE").value_or(kWorlds);
  const std::uint64_t most = from_environment("WARDMOTE_SIM_SEEDS").value_or(wanted);
  const std::uint64_t count = only ? 1 : std::min(wanted, most);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    StandaloneWorld world(seed, judge::failover::duties());
    const std::optional<std::string> wrong = world.play();
    if (!wrong) continue;
    FAIL() << *wrong << "\nin the world of seed " << seed << "; replay: WARDMOTE_SIM_SEED=" << seed
           << " build/release/bin/failover --gtest_filter='SimStandalone.One*'\n"
           << world.story();
  }
}

/// Whether some world goes wrong.
bool is_missed(const std::vector<DutyRow>& table, StandaloneWorld::Without guard) {
  for (std::uint64_t seed = 1; seed <= kWorldsWithoutGuard; ++seed) {
    StandaloneWorld world(seed, table);
    world.without(guard);
    if (world.play()) return true;
  }
  return false;
}

bool may_play_many() {
  // Under sanitizers it is too slow, and shows nothing new.
  return from_environment("WARDMOTE_SIM_SEEDS").value_or(kWorldsWithoutGuard) >=
         kWorldsWithoutGuard;
}

/// The other rows that guard are second lines here: the loss of the lease takes the address too,
/// and a copy that is writable without a right to it meets two rows.
TEST(SimStandalone, EachRowThatGuardsIsMissedWhenItIsGone) {
  if (!may_play_many()) return;
  for (const std::string guard :
       {"nobody leads, so what this copy has must not change",
        "this copy must not become the active one", "another node is the active one"}) {
    std::vector<DutyRow> table;
    for (const DutyRow& row : judge::failover::duties()) {
      if (row.next.reason != guard) table.push_back(row);
    }
    ASSERT_LT(table.size(), judge::failover::duties().size()) << guard;
    EXPECT_TRUE(is_missed(table, StandaloneWorld::Without::kNothing))
        << "nobody misses the guard: " << guard;
  }
}

TEST(SimStandalone, EachFactThatACandidateIsJudgedByIsMissedWhenItIsGone) {
  if (!may_play_many()) return;
  using Without = StandaloneWorld::Without;
  const auto all = judge::failover::duties();
  const std::vector<DutyRow> table(all.begin(), all.end());
  for (const Without guard : {Without::kPublished, Without::kPeers, Without::kKernelTimer})
    EXPECT_TRUE(is_missed(table, guard)) << static_cast<int>(guard);
}

}  // namespace
}  // namespace wardmote::failover
