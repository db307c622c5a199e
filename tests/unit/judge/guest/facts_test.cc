#include "judge/guest/facts.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace wardmote::judge::guest {
namespace {

// Its seven words for libvirt's states, in libvirt's numbers; the eighth came later.
TEST(GuestFacts, StatesHaveTheWordsOfMasakarisMonitor) {
  constexpr std::array<std::string_view, 8> kWords = {"no state",
                                                      "running",
                                                      "blocked on resource",
                                                      "paused by user",
                                                      "being shut down",
                                                      "shut off",
                                                      "crashed",
                                                      "suspended by guest power management"};
  for (std::size_t state = 0; state < kWords.size(); ++state)
    EXPECT_EQ(to_string(static_cast<guest::Run>(state)), kWords.at(state));
}

}  // namespace
}  // namespace wardmote::judge::guest
