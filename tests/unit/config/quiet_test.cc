#include "config/quiet.h"

#include <chrono>

#include <gtest/gtest.h>

#include "config/config.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

TEST(Quiet, IsAsLongAsItTakesToLookAtEverythingOftenEnough) {
  config::Config config;
  config.checks.emplace_back().schedule = {1s, 900ms, {.fall = 3, .rise = 1}, false};
  EXPECT_EQ(quiet_after_start(config), 10s);
  config::Check check;
  check.schedule = {10s, 4s, {.fall = 3, .rise = 1}, false};
  config.checks.push_back(check);
  EXPECT_EQ(quiet_after_start(config), 25s);
  config.checks.front().schedule = {15s, 5s, {.fall = 3, .rise = 1}, false};
  EXPECT_EQ(quiet_after_start(config), 36s);
  config.checks.back().schedule.every = 1h;
  EXPECT_EQ(quiet_after_start(config), 1min);
}

}  // namespace
}  // namespace wardmote::config
