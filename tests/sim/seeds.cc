#include "sim/seeds.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace wardmote::sim {
namespace {

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::uint64_t>(text);
}

std::uint64_t run_one(SimBody body, std::uint64_t seed) {
  World world(seed);
  body(world);
  return world.trace_hash();
}

}  // namespace

bool is_cut_short() {
  return std::getenv("WARDMOTE_SIM_SEEDS") != nullptr;
}

void run_seeds(SimBody body, std::uint64_t seeds) {
  const std::optional<std::uint64_t> only = from_environment("WARDMOTE_SIM_SEED");
  const std::uint64_t first = only.value_or(from_environment("WARDMOTE_SIM_FIRST").value_or(1));
  const std::uint64_t wanted = std::max(seeds, from_environment("WARDMOTE_SIM_MORE").value_or(0));
  const std::uint64_t count =
      only ? 1 : std::min(wanted, from_environment("WARDMOTE_SIM_SEEDS").value_or(wanted));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::uint64_t trace = run_one(body, seed);
    if (seed == first)
      EXPECT_EQ(run_one(body, seed), trace)
          << "seed " << seed << " does not replay: not deterministic";
    if (testing::Test::HasFailure()) {
      const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
      FAIL() << "see above\nin the world of seed " << seed << "; replay: WARDMOTE_SIM_SEED=" << seed
             << " sim --gtest_filter=" << test->test_suite_name() << '.' << test->name();
    }
  }
}

}  // namespace wardmote::sim
