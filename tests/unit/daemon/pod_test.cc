#include "daemon/pod.h"

#include <gtest/gtest.h>

namespace wardmote::daemon {
namespace {

TEST(Pod, ItsServerIsThatOfTheEnvironment) {
  EXPECT_EQ(pod_server("10.96.0.1", "443"), "https://10.96.0.1:443");
  EXPECT_EQ(pod_server("fd00:10:96::1", "443"), "https://[fd00:10:96::1]:443");
  EXPECT_EQ(pod_server("", "443"), "");
  EXPECT_EQ(pod_server("10.96.0.1", ""), "");
}

}  // namespace
}  // namespace wardmote::daemon
